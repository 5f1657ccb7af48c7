import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import Testing

/// The fallback that changes a schema by copying the records.
@Suite("Changes of schema by copying")
struct CopyingTests {
  struct Stopped: Error {}

  /// Computes a text of this length for each record.
  private static let length = 10_000
  private static let count = 800

  private static func schema(_ fields: [FieldSchema] = []) throws -> ModelSchema {
    try ModelSchema(name: "Page", fields: [FieldSchema("id", .int64)] + fields, key: ["id"])
  }

  private static func change() throws -> SchemaChange {
    try SchemaChange(
      from: schema(), to: schema([FieldSchema("text", .string)]), sources: [.field(0), .computed]
    ) { row, computed in
      let text = String(repeating: "\(try row.value(at: 0))", count: length).prefix(length)
      computed.set(.text(text.description), at: 0)
    }
  }

  private func filled() throws -> MemoryContext {
    let context = MemoryContext()
    try context.transaction { transaction in
      let schema = try Self.schema()
      try transaction.define(schema)
      let row = RowBuffer(count: 1)
      for id in 0..<Self.count {
        row.set([.integer(Int64(id))])
        try row.withRow { try transaction.insert($0, in: schema) }
      }
    }
    return context
  }

  /// A transaction that evolves by copying, and discards the copies.
  private final class DiscardingTransaction: StorageTransactionWrapper {
    let wrapped: any StorageTransaction
    let onInsert: (Int) throws -> Void
    private(set) var count = 0

    init(_ wrapped: any StorageTransaction, _ onInsert: @escaping (Int) throws -> Void) {
      self.wrapped = wrapped
      self.onInsert = onInsert
    }

    func evolve(_ change: SchemaChange) throws { try evolveByCopying(change) }
    func insert(_ row: borrowing Row, in schema: ModelSchema) throws {
      try onInsert(count)
      count += 1
    }
  }

  #if os(Linux)
    /// The bytes of this process's unnamed scratch files.
    private static func scratchBytes() throws -> Int {
      let folder = "/proc/self/fd"
      var bytes = 0
      for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)"),
          target.contains("/persistence-"), target.hasSuffix("(deleted)"), let file = Int32(name)
        else { continue }
        var status = stat()
        if fstat(file, &status) == 0 { bytes = max(bytes, Int(status.st_size)) }
      }
      return bytes
    }

    @Test("the changed records are in a scratch file before the first one is written")
    func scratch() throws {
      let context = try filled()
      let change = try Self.change()
      var found = 0
      struct Discarded: Error {}
      #expect(throws: Discarded.self) {
        try context.transaction { transaction in
          let copying = DiscardingTransaction(transaction) { number in
            if number == 0 { found = try Self.scratchBytes() }
          }
          try copying.evolve(change)
          #expect(copying.count == Self.count)
          throw Discarded()
        }
      }
      #expect(found >= Self.count * Self.length)
    }
  #endif

  @Test("every kind of value, nil, empty and long values are copied unchanged")
  func values() throws {
    let fields = [
      FieldSchema("bool", .bool, isOptional: true), FieldSchema("double", .double, isOptional: true),
      FieldSchema("text", .string, isOptional: true), FieldSchema("data", .data, isOptional: true),
      FieldSchema("date", .date, isOptional: true), FieldSchema("uuid", .uuid, isOptional: true),
      FieldSchema("decimal", .decimal, isOptional: true),
      FieldSchema("document", .document, isOptional: true),
    ]
    let stored = try Self.schema(fields)
    let target = try Self.schema(fields + [FieldSchema("new", .string)])
    var rows: [[PersistentValue]] = [
      [.integer(.min)] + fields.map { _ in .null },
      [
        .integer(-1), .bool(false), .double(-.infinity), .text(""), .bytes([]), .date(-0.5),
        .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255))), .decimal(-1.25),
        .document(#"{"a":[]}"#),
      ],
      [
        .integer(.max), .bool(true), .double(.nan), .text("é\u{0}\u{10FFFF}"),
        .bytes([UInt8](repeating: 7, count: 1_000_000)), .date(.infinity), .null, .decimal(0),
        .document("null"),
      ],
    ]
    rows += (0..<300).map { id in
      [.integer(Int64(id))] + fields.map { _ in .null as PersistentValue }
    }
    rows.sort { PersistentValue.compare($0[0], $1[0]) < 0 }
    let context = MemoryContext()
    let expected = rows
    try context.transaction { transaction in
      try transaction.define(stored)
      let row = RowBuffer(count: stored.fields.count)
      for values in expected {
        row.set(values.map(\.normalized))
        try row.withRow { try transaction.insert($0, in: stored) }
      }
      let change = try SchemaChange(
        from: stored, to: target, sources: stored.fields.indices.map { .field($0) } + [.fill(.text("n"))])
      try transaction.evolveByCopying(change)
    }
    var found: [[PersistentValue]] = []
    _ = try context.fetch(FetchRequest(target)).read(from: 0, limit: .max) { found.append(try $0.values()) }
    #expect(found == expected.map { $0.map(\.normalized) + [.text("n")] })
  }

  @Test("S5 an error at any report of progress leaves the store unchanged", arguments: [1, 3, 5, 7])
  func cancelling(limit: Int) throws {
    let context = try filled()
    let change = try Self.change()
    var reports = 0
    #expect(throws: Stopped.self) {
      try StoreProgress.following({ _ in
        reports += 1
        if reports == limit { throw Stopped() }
      }) {
        try context.transaction { transaction in try transaction.evolveByCopying(change) }
      }
    }
    #expect(reports == limit)
    #expect(try context.catalog() == [Self.schema()])
    #expect(try context.count(FetchRequest(Self.schema())) == Self.count)
  }

  @Test("progress grows, reaches a thread's own work only, and ends with it")
  func scope() throws {
    var reports: [Int] = []
    try StoreProgress.following({ reports.append($0) }) {
      for done in [0, 3, 2, 5] { try StoreProgress.report(done) }
      #expect(StoreProgress.isFollowed)
      for done in 6..<300 { try StoreProgress.report(done) }
      for _ in 0..<300 { try StoreProgress.report(0) }
    }
    #expect(reports.first == 0 && reports.count >= 3, "\(reports)")
    #expect(reports == reports.sorted())
    #expect(!StoreProgress.isFollowed)
    try StoreProgress.report(1)
  }
}
