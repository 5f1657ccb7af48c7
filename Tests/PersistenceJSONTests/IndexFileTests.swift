import Foundation
import PersistenceConformance
import PersistenceDriver
import Testing

@testable import PersistenceJSON

/// The index file: a cache that may be missing, damaged, foreign or hostile at any time.
struct IndexFileTests {
  private static let count: Int64 = 100
  private let place: TemporaryStore

  init() throws {
    place = try TemporaryStore()
    let context = try place.open()
    try Books.fill(context, Self.count)
    _ = try context.ids(ofGenre: "none")
  }

  private var indexPath: String { "\(place.path)/\(Books.index)" }

  private func content() throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: indexPath))) }

  private func replace(_ bytes: [UInt8]) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: indexPath))
  }

  /// Asks in a new context, which must give the right answer, and says how many files that opened.
  private func openings() throws -> Int {
    let context = try place.open()
    let dramas = Books.ids(below: Self.count) { id in id % 5 == 1 }
    var (count, found): (Int, [Int64]) = (0, [])
    let openings = try context.openings {
      count = try context.count(FetchRequest(Books.schema, where: Books.genre("drama")))
      found = try context.ids(ofGenre: "drama")
    }
    #expect(count == dramas.count && found == dramas)
    return openings - dramas.count
  }

  @Test("the next process reads the index, or rebuilds a missing one; the index is never a record")
  func deleted() throws {
    #expect(try openings() == 0)
    #expect(try place.names(Books.folder).count == Int(Self.count))
    #expect(try place.names(".persistence/index") == ["Book"])
    #expect(try place.open().catalog() == [Books.schema])
    try place.remove(".persistence/index")
    #expect(try openings() == Int(Self.count))
    #expect(try openings() == 0)
    let context = try place.open()
    _ = try context.ids(ofGenre: "drama")
    try place.remove(Books.index)
    let again = try context.openings { _ = try context.ids(ofGenre: "none") }
    #expect(again == 0)
  }

  @Test("an index that is truncated or corrupted anywhere is ignored, and replaced")
  func damaged() throws {
    let good = try content()
    var random = SeededGenerator(seed: 5)
    for round in 0..<60 {
      var bytes = good
      if round % 2 == 0 {
        bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
      } else {
        bytes[Int.random(in: bytes.indices, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
      }
      try replace(bytes)
      #expect(try openings() == Int(Self.count), "round \(round)")
      #expect(try openings() == 0, "round \(round)")
    }
    try replace(good + [0])
    #expect(try openings() == Int(Self.count))
  }

  @Test("an index that is a folder, a link, a pipe or unreadable is ignored")
  func otherKinds() throws {
    for round in 0..<4 {
      try place.remove(Books.index)
      switch round {
      case 0: try place.makeFolder(Books.index)
      case 1: #expect(symlink("/dev/zero", indexPath) == 0)
      case 2: #expect(mkfifo(indexPath, 0o600) == 0)
      default: #expect(truncate(indexPath, 0) != 0 && open(indexPath, O_CREAT | O_WRONLY, 0) > 0)
      }
      #expect(try openings() == Int(Self.count) || (round == 3 && geteuid() == 0), "round \(round)")
      if round == 0 { try FileManager.default.removeItem(atPath: indexPath) }
      _ = try openings()
    }
  }

  @Test("sizes in a hostile index are ignored, with or without a valid checksum")
  func hostile() throws {
    let fields = IndexedFields(Books.schema)
    let store = UInt64(try Folder(path: place.path).inode)
    func content(_ body: ByteWriter) -> [UInt8] { IndexContent.sealed(body.bytes) }
    var head = ByteWriter()
    head.put(store)
    head.putCounted(fields.signature.utf8)
    var many = head
    many.put(UInt64.max)
    var long = head
    long.put(UInt64(1))
    long.put(UInt32.max)
    var far = head
    far.put(UInt64(1))
    far.putCounted("1.json".utf8)
    far.put(UInt64.max)
    far.put(UInt64.max)
    for _ in 0..<2 {
      far.put(Int64.max)
      far.put(UInt32.max)
    }
    var signature = ByteWriter()
    signature.put(store)
    signature.put(UInt32.max)
    for body in [many, long, far, signature, ByteWriter()] {
      let bytes = content(body)
      #expect(IndexContent.records(in: bytes, fields, store: store) == nil)
      try replace(bytes)
      #expect(try openings() == Int(Self.count))
    }
    let huge = open(indexPath, O_WRONLY)
    #expect(ftruncate(huge, 1 << 40) == 0)
    close(huge)
    #expect(try openings() == Int(Self.count))
  }

  @Test("values that no record of the file's name can have are ignored")
  func implausible() throws {
    let fields = IndexedFields(Books.schema)
    let status = FileStatus(
      size: 1, inode: 1, modified: FileTime(seconds: 1, nanoseconds: 1),
      changed: FileTime(seconds: 1, nanoseconds: 1))
    func isRead(_ name: String, _ change: (inout [RowCell]) -> Void) throws -> Bool {
      let row = RowBuffer(count: Books.schema.fields.count)
      row.set(Books.row(3))
      var bytes = ByteWriter()
      row.withRow { row in
        var cells = fields.fields.map { row[$0.position] }
        change(&cells)
        for cell in cells { bytes.put(cell) }
      }
      let record = IndexedRecord(status: status, values: bytes.bytes)
      let content = IndexContent.bytes(of: [name: record], fields, store: 1)
      return IndexContent.records(in: content, fields, store: 1) != nil
    }
    // By name: genre, id, number, price, year.
    #expect(try isRead("3.json") { _ in })
    #expect(try !isRead("4.json") { _ in })
    #expect(try !isRead("3.json") { $0[0] = .null })
    #expect(try !isRead("3.json") { $0[0] = .integer(1) })
    #expect(try !isRead("3.json") { $0[1] = .null })
    #expect(try isRead("3.json") { $0[2] = .null })
    #expect(try !isRead("3.json") { $0[4] = .integer(1 << 40) })
    #expect(try !isRead("3.json") { $0.removeLast() })
    #expect(try !isRead("3.json") { $0.append(.null) })
    let invalid: [UInt8] = [0xFF]
    let isInvalidRead = try invalid.withUnsafeBytes { bytes in
      let text = RowCell.text(bytes)
      return try isRead("3.json") { $0[0] = text }
    }
    #expect(!isInvalidRead)
  }

  @Test("the index of another store, or of a copy of this one, is ignored")
  func foreign() throws {
    let other = try TemporaryStore()
    let context = try other.open()
    try context.transaction { transaction in
      try transaction.define(Books.schema)
      for id in 0..<Self.count {
        var row = Books.row(id)
        row[2] = .text("drama")
        try transaction.insert(row, in: Books.schema)
      }
    }
    Books.settle()
    _ = try context.ids(ofGenre: "none")
    try place.remove(Books.index)
    try FileManager.default.copyItem(atPath: "\(other.path)/\(Books.index)", toPath: indexPath)
    #expect(try openings() == Int(Self.count))

    let copy = try TemporaryStore()
    try FileManager.default.copyItem(atPath: place.path, toPath: copy.path)
    try copy.edit(Books.file(1), "drama", "crime", inPlace: true)
    #expect(try copy.open().ids(ofGenre: "crime").contains(1))
    #expect(try !copy.open().ids(ofGenre: "drama").contains(1))
  }

  @Test("an index of other fields is ignored")
  func otherFields() throws {
    let bytes = try content()
    let fewer = IndexedFields(Films.schema)
    #expect(IndexContent.records(in: bytes, fewer, store: UInt64(try Folder(path: place.path).inode)) == nil)
  }

  @Test(
    "a read-only context uses the index without writing it; an index that cannot be written is not an error")
  func readOnly() throws {
    try place.remove(".persistence/index")
    let context = try place.openForReading()
    #expect(try context.ids(ofGenre: "drama").count == 20)
    let again = try context.openings { _ = try context.ids(ofGenre: "none") }
    #expect(again == 0)
    #expect(try !place.names(".persistence").contains("index"))
    try place.write("in the way", to: ".persistence/index")
    #expect(try openings() == Int(Self.count))
    #expect(try place.text(".persistence/index") == "in the way")
  }

  @Test("W5 a process killed at any step of writing an index leaves a store with correct results")
  func killed() async throws {
    for (number, step) in ["index folder", "index create", "index write", "index rename", "index end"]
      .enumerated()
    {
      try? place.remove(".persistence/index")
      let path = place.path
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, step = step as String] in
        var configuration = JSONDirectoryConfiguration()
        configuration.step = { if $0 == step { kill(getpid(), SIGKILL) } }
        _ = try JSONDirectoryContext(path: path, configuration: configuration).ids(ofGenre: "none")
      }
      let isLeft = number == 2 || number == 3
      // The test may have waited for the process for any time; a file of this moment may be another process's.
      if isLeft { try setAge(of: "\(Books.index).new", seconds: 0) }
      #expect(try openings() == (step == "index end" ? 0 : Int(Self.count)), "\(step)")
      let names = (try? place.names(".persistence/index")) ?? []
      #expect(names == (isLeft ? ["Book.new"] : ["Book"]), "\(step)")
      guard isLeft else { continue }
      // What is left is in nobody's way for longer than a minute.
      try setAge(of: "\(Books.index).new", seconds: 100)
      #expect(try openings() == Int(Self.count))
      #expect(try place.names(".persistence/index") == ["Book"])
    }
  }

  private func setAge(of name: String, seconds: Int) throws {
    let moment = timespec(tv_sec: time(nil) - seconds, tv_nsec: 0)
    try #require(utimensat(AT_FDCWD, "\(place.path)/\(name)", [moment, moment], 0) == 0)
  }

  @Test("C2 two reading processes and one writing process agree, each with its own index")
  func processes() async throws {
    let path = place.path
    async let first: Void = query(path)
    async let second: Void = query(path)
    let context = try place.open()
    for round in 0..<40 as Range<Int64> {
      // Always the same number of dramas: one goes, one comes, in one transaction.
      var (gone, come) = (Books.row(round * 2 % 100), Books.row((round * 2 + 1) % 100))
      try context.transaction { transaction in
        let before = try transaction.count(FetchRequest(Books.schema, where: Books.genre("drama")))
        gone[2] = .text("travel")
        come[2] = .text("travel")
        try transaction.save(gone, in: Books.schema)
        try transaction.save(come, in: Books.schema)
        let after = try transaction.count(FetchRequest(Books.schema, where: Books.genre("drama")))
        var more = Books.row(1_000 + round * 2)
        more[2] = .text("drama")
        for number in 0..<Int64(before - after) {
          more[0] = .integer(1_000 + round * 2 + number)
          more[5] = .text("m\(round)-\(number)")
          try transaction.save(more, in: Books.schema)
        }
      }
      usleep(5_000)
    }
    _ = await (first, second)
    #expect(try context.count(FetchRequest(Books.schema, where: Books.genre("drama"))) == 20)
  }

  private func query(_ path: String) async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      let context = try JSONDirectoryContext(path: path)
      for round in 0..<60 {
        let sorted = try FetchRequest(
          Books.schema, where: Books.genre("drama"), order: [FieldOrder("price")])
        let found = try context.rows(sorted)
        let count = try context.count(FetchRequest(Books.schema, where: Books.genre("drama")))
        guard found.count == 20, count == 20, found.allSatisfy({ $0[2] == .text("drama") }) else {
          print("round \(round): \(found.count), \(count)")
          exit(1)
        }
        usleep(3_000)
      }
    }
  }
}
