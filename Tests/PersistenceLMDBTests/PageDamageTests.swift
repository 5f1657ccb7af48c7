import Foundation
import PersistenceDriver
import PersistenceLMDB
import Testing

@Suite("E5: damaged pages")
struct PageDamageTests {
  @Test(
    "E5 a damaged page gives right data or a typed error and a finding of verify, and never ends the process")
  func eachPage() async {
    await #expect(processExitsWith: .success) {
      let store = try DamagedStore()
      for page in 0..<store.pageCount {
        for damage in DamagedStore.Damage.allCases { try store.check(damage, page) }
      }
    }
  }

  @Test("E5 flipped bits end in typed errors, and never end the process")
  func flippedBits() async {
    await #expect(processExitsWith: .success) {
      let store = try DamagedStore()
      // The numbers, kinds and bounds of pages, and the positions and heads of their nodes.
      for page in 0..<store.pageCount {
        let head = stride(from: page % 41, to: 8 * 64, by: 41)
        let rest = stride(from: 8 * 64 + page, to: 8 * DamagedStore.pageSize, by: 4_999)
        for bit in Array(head) + Array(rest) { try store.use(store.flipping(bit, of: page)) }
      }
    }
  }

  @Test(
    "E5 the opening of a large store checks all pages if the URL asks for it, also of a store that is open")
  func largeStore() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open(LMDBConfiguration(synchronization: .off))
    let marked = "the page of this text will be damaged" + String(repeating: "y", count: 1_200)
    let text = String(repeating: "x", count: 1_200)
    try context.save((0..<5_000).map { ("note \($0)", $0 == 2_500 ? marked : text) }, schema)
    try context.close()
    #expect(try scratch.open(Self.structure).text("note 2500", schema) == .text(marked))
    var data = try Data(contentsOf: scratch.data)
    // Only such pages may go unchecked.
    try #require(data.count > 256 << 10)
    let place = try #require(data.range(of: Data(marked.utf8), options: .backwards)).lowerBound
    let page = place / DamagedStore.pageSize
    // The number that the page has of itself, which LMDB does not read.
    data[page * DamagedStore.pageSize + 1] ^= 0x40
    try data.write(to: scratch.data)

    let error = expectError(.damaged) { _ = try scratch.open(Self.structure) }
    #expect(error?.message.contains("page \(page) of the tree records") == true)
    let again = try scratch.open()
    #expect(try again.text("note 1", schema) == .text(text))
    expectError(.damaged) { _ = try scratch.open(Self.structure) }
    let findings = try again.findings()
    #expect(findings.count == 1 && findings.allSatisfy { $0.kind == .damaged })
    #expect(findings.first?.object == "page \(page) of the tree records")
  }

  private static var structure: LMDBConfiguration {
    var configuration = LMDBConfiguration(synchronization: .off)
    configuration.checks = .structure
    return configuration
  }

  @Test("verify finds nothing in an intact store, whatever transactions it has had")
  func intact() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema(indexes: [IndexSchema(["text"])])
    let context = try scratch.open(LMDBConfiguration(synchronization: .off))
    for round in 0..<8 {
      let notes = (0..<150).map { number in
        let size = number % 29 == round ? 20_000 : (number * 37 + round * 11) % 400
        return ("\((number * 7 + round * 13) % 400)", String(repeating: "r\(round)", count: size / 2))
      }
      try context.save(notes, schema)
      try context.transaction { transaction in
        for number in stride(from: round, to: 400, by: 5) {
          _ = try transaction.delete(RecordKey([.text("\(number)")]), in: schema)
        }
      }
      try context.transaction { transaction in
        try transaction.nested { _ = try transaction.delete(RecordKey([.text("\(round)")]), in: schema) }
        expectError(.invalidRequest) {
          try transaction.nested {
            _ = try transaction.delete(RecordKey([.text("\(round + 50)")]), in: schema)
            throw PersistenceError(.invalidRequest, "rolled back")
          }
        }
      }
      #expect(try context.findings() == [])
      // The same as a store that is closed, and as one that another context has open.
      try scratch.open(Self.structure).close()
    }
    try context.transaction { _ = try $0.deleteAll(in: schema) }
    #expect(try context.findings() == [])
    try context.close()
    #expect(try scratch.open(LMDBConfiguration(isReadOnly: true)).findings() == [])
  }

  @Test("E5 header pages that contradict each other are damaged, instead of showing an older state")
  func headers() throws {
    let scratch = try Scratch()
    let context = try scratch.open()
    for number in 0..<3 { try context.save([("\(number)", nil)], Scratch.schema()) }
    try context.close()
    let whole = try Data(contentsOf: scratch.data)
    // The transaction's number ends the header; the flags of the main database and its number of levels lie before it.
    for place in [16 + 128, 16 + 129, 8 + 2, 0, 16 + 76, 16 + 28] {
      for page in 0...1 {
        var data = whole
        data[page * DamagedStore.pageSize + place] ^= 0x04
        try data.write(to: scratch.data)
        expectError(.damaged) { _ = try scratch.open() }
      }
    }
    try whole.write(to: scratch.data)
    #expect(try scratch.open().count(FetchRequest(Scratch.schema())) == 3)
  }
}

extension VerifiableContext {
  fileprivate func findings() throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    try verify { findings.append($0) }
    return findings
  }
}

/// A store of some thirty pages, of which copies are damaged.
///
/// A wrong answer is an error.
private struct DamagedStore {
  static let pageSize = 4096

  enum Damage: CaseIterable {
    case zeroed, filled, swapped, scrambled, relabelled
  }

  struct Wrong: Error {
    let description: String
  }

  private let scratch: Scratch
  private let schema: ModelSchema
  private let whole: Data
  private let notes: [String: String]
  var pageCount: Int { whole.count / Self.pageSize }

  private static let configuration = {
    var configuration = LMDBConfiguration(synchronization: .off)
    configuration.checks = .structure
    return configuration
  }()

  init() throws {
    scratch = try Scratch("damaged")
    schema = try Scratch.schema(indexes: [IndexSchema(["text"])])
    var notes: [String: String] = [:]
    let context = try scratch.open(Self.configuration)
    for round in 0..<3 {
      for number in 0..<60 where number % 3 != round {
        let size = number % 20 == 0 ? 9_000 : 20 + number * 7 % 300
        notes["note \(number)"] = String(repeating: "\(round)", count: size)
      }
      try context.save(notes.map { ($0.key, $0.value) }, schema)
    }
    try context.close()
    self.notes = notes
    whole = try Data(contentsOf: scratch.data)
  }

  func flipping(_ bit: Int, of page: Int) -> Data {
    var data = whole
    data[page * Self.pageSize + bit / 8] ^= 1 << (bit % 8)
    return data
  }

  /// The file with a damaged page.
  private func damaged(_ damage: Damage, _ page: Int) -> Data {
    var data = whole
    let range = page * Self.pageSize..<(page + 1) * Self.pageSize
    switch damage {
    case .zeroed: data.replaceSubrange(range, with: Data(count: Self.pageSize))
    case .filled: data.replaceSubrange(range, with: Data(repeating: 0xA5, count: Self.pageSize))
    case .swapped:
      let other = (page + 1) % pageCount * Self.pageSize
      data.replaceSubrange(range, with: whole[other..<other + Self.pageSize])
      data.replaceSubrange(other..<other + Self.pageSize, with: whole[range])
    case .scrambled:
      // The number and kind of the page stay right.
      for index in range.lowerBound + 12..<range.upperBound { data[index] = UInt8(index * 167 % 251) }
    case .relabelled:
      // Another page's content with this page's number.
      let other = (page + pageCount / 2) % pageCount * Self.pageSize
      data.replaceSubrange(
        range.lowerBound + 8..<range.upperBound, with: whole[other + 8..<other + Self.pageSize])
    }
    return data
  }

  func check(_ damage: Damage, _ page: Int) throws {
    try use(damaged(damage, page), naming: "\(damage) page \(page)", mustBeRight: damage != .relabelled)
  }

  /// Opens a store with this file, reads everything, checks it and writes to it.
  func use(_ data: Data, naming name: String = "", mustBeRight: Bool = false) throws {
    // A new file, which no context of this process has had open.
    try FileManager.default.removeItem(at: scratch.folder.appendingPathComponent("store.lmdb"))
    try FileManager.default.createDirectory(atPath: scratch.path, withIntermediateDirectories: true)
    try data.write(to: scratch.data)
    let context: LMDBContext
    do {
      context = try scratch.open(Self.configuration)
    } catch let error as PersistenceError {
      if mustBeRight, error.code != .damaged, error.code != .notAStore { throw error }
      return
    }
    let read = try allowingDamage { try self.read(context) }
    if mustBeRight, let read, read != notes {
      throw Wrong(description: "\(name): \(read.count) records differ")
    }
    _ = try allowingDamage { try context.fetch(FetchRequest(schema, order: [FieldOrder("text")])).keys() }
    for number in 0..<60 {
      _ = try allowingDamage { try context.text("note \(number)", schema) }
    }
    let findings = try allowingDamage { try context.findings() }
    if mustBeRight, read != notes, findings?.isEmpty == true {
      throw Wrong(description: "\(name): verify finds nothing")
    }
    _ = try allowingDamage {
      try context.save((0..<30).map { ("note \($0 * 3)", String(repeating: "w", count: $0 * 20)) }, schema)
    }
    _ = try allowingDamage { try context.transaction { _ = try $0.deleteAll(in: schema) } }
    try allowingDamage { try context.close() }
  }

  private func read(_ context: LMDBContext) throws -> [String: String] {
    var read: [String: String] = [:]
    _ = try context.fetch(FetchRequest(schema)).read(from: 0, limit: 1_000) { row in
      if case (.text(let id), .text(let text)) = (try row.value(at: 0), try row.value(at: 1)) {
        read[id] = text
      }
    }
    return read
  }

  /// The result of a closure; nil if it throws an error of this package, as damage may cause several.
  @discardableResult
  private func allowingDamage<Result>(_ body: () throws -> Result) throws -> Result? {
    do {
      return try body()
    } catch is PersistenceError {
      return nil
    }
  }
}
