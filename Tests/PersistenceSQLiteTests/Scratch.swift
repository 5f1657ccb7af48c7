import Foundation
import PersistenceConformance
import PersistenceDriver
import PersistenceSQLite

/// A temporary folder for one test.
final class Scratch {
  let folder: URL
  private let scratch: ScratchFolder

  init() throws {
    scratch = try ScratchFolder()
    folder = try scratch.make("sqlite")
  }

  deinit { scratch.remove() }

  func path(_ name: String = "store.sqlite") -> String { folder.appendingPathComponent(name).path }

  func bytes(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path(name))) }

  /// Opens a store in the folder.
  func open(_ name: String = "store.sqlite", _ change: (inout SQLiteConfiguration) -> Void = { _ in }) throws
    -> SQLiteContext
  {
    var configuration = SQLiteConfiguration(synchronous: .off)
    change(&configuration)
    return try SQLiteContext(path: path(name), configuration: configuration)
  }

  /// Creates a foreign database by SQL.
  func makeForeign(_ name: String, _ statements: [String]) throws {
    let context = try open(name)
    try context.execute("DROP TABLE persistence_catalog")
    try context.execute("PRAGMA application_id = 0")
    for statement in statements { try context.execute(statement) }
    try context.close()
  }
}

extension StorageReader {
  /// All rows of a request as values.
  func values(_ request: FetchRequest) throws -> [[PersistentValue]] {
    var rows: [[PersistentValue]] = []
    _ = try fetch(request).read(from: 0, limit: Int.max) { rows.append(try $0.values()) }
    return rows
  }

  /// The values of the row with a key; nil if there is none.
  func values(of key: PersistentValue..., in schema: ModelSchema) throws -> [PersistentValue]? {
    var values: [PersistentValue]?
    _ = try find(RecordKey(key), in: schema) { values = try $0.values() }
    return values
  }
}

extension StorageTransaction {
  func insert(_ values: [PersistentValue], in schema: ModelSchema) throws {
    try withRow(values, schema) { try insert($0, in: schema) }
  }

  func update(_ values: [PersistentValue], in schema: ModelSchema) throws {
    try withRow(values, schema) { try update($0, in: schema) }
  }

  func save(_ values: [PersistentValue], in schema: ModelSchema) throws {
    try withRow(values, schema) { try save($0, in: schema) }
  }

  private func withRow(
    _ values: [PersistentValue], _ schema: ModelSchema, _ body: (borrowing Row) throws -> Void
  ) throws {
    let row = RowBuffer(count: schema.fields.count)
    row.set(values)
    try row.withRow(body)
  }
}

extension StorageContext {
  /// Defines a model and saves rows of it.
  func fill(_ schema: ModelSchema, _ rows: [[PersistentValue]]) throws {
    try transaction { transaction in
      try transaction.define(schema)
      for row in rows { try transaction.save(row, in: schema) }
    }
  }

  /// Defines the movies of ``Fixtures``, and saves movies with these keys and with titles of `size` bytes.
  func fill(_ movies: ModelSchema, _ keys: Range<Int>, size: Int = 100) throws {
    let title = PersistentValue.text(String(repeating: "x", count: size))
    try fill(movies, keys.map { [.integer(Int64($0)), title, .null, .integer(Int64($0)), .null] })
  }
}

/// Schemas that several tests use.
enum Fixtures {
  static func movies(key: FieldKind = .int64) throws -> ModelSchema {
    try ModelSchema(
      name: "Movie",
      fields: [
        FieldSchema("id", key), FieldSchema("title", .string),
        FieldSchema("genre", .string, isOptional: true),
        FieldSchema("budget", .int64), FieldSchema("rating", .double, isOptional: true),
      ], key: ["id"], indexes: [IndexSchema(["title"]), IndexSchema(["genre", "budget"])])
  }

  /// One optional field of every kind beside the key, and second fields of some kinds for comparisons.
  static func everything() throws -> ModelSchema {
    var fields = [FieldSchema("id", .int64)]
    for kind in FieldKind.allCases { fields.append(FieldSchema(kind.rawValue, kind, isOptional: true)) }
    for kind in [FieldKind.int64, .double, .string, .decimal, .date, .uuid, .data, .bool, .document] {
      fields.append(FieldSchema(kind.rawValue + "2", kind, isOptional: true))
    }
    return try ModelSchema(
      name: "Everything", fields: fields, key: ["id"],
      indexes: [IndexSchema(["int64"]), IndexSchema(["double"]), IndexSchema(["string", "bool"])])
  }

  /// A random value of a kind, from a few so that duplicates occur; sometimes nil.
  static func value(_ kind: FieldKind, optional: Bool, _ random: inout SeededGenerator) -> PersistentValue {
    if optional, Int.random(in: 0..<5, using: &random) == 0 { return .null }
    func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &random)] }
    switch kind {
    case .bool: return .bool(Bool.random(using: &random))
    case .int64: return .integer(pick([.min, -3, -1, 0, 1, 2, 1 << 53 + 1, .max]))
    case .int8, .int16, .int32: return .integer(pick([-3, -1, 0, 1, 2, 100]))
    case .uint8, .uint16, .uint32: return .integer(pick([0, 1, 2, 100]))
    case .float:
      return .double(Double(pick([-1.5, 0, 0.25, 7, Float.infinity, -.infinity, .nan] as [Float])))
    case .double:
      return .double(
        pick([-1.5, 0, 0.1, 3, 1e300, .infinity, -.infinity, .nan, Double.leastNonzeroMagnitude]))
    case .date: return .date(pick([-1.5, 0, 0.1, 700_000_000.123456, .infinity, .nan]))
    case .string, .url:
      return .text(
        pick([
          "", "a", "A", "ab", "b", "a\u{0}b", "a\u{0}", "é", "e\u{301}", "É", "a%b", "a_b", "\u{10FFFF}",
          "\u{D7FF}x", "zebra", "İ", "😀 smile",
        ]))
    case .data: return .bytes(pick([[], [0], [0, 1], [255], [65, 66], [0x4E, 0x61, 0x4E]]))
    case .uuid:
      let number = UInt8(pick([0, 1, 128, 255]))
      return .uuid(UUID(uuid: (number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(pick([0, 7])))))
    case .decimal:
      let texts = [
        "0", "1", "-1", "1.5", "-1.55", "10", "9.99", "0.001", "-1.5", "123456789012345678901234567890",
      ]
      return .decimal(pick(texts.compactMap { Decimal(canonicalText: $0) } + [.nan]))
    case .document: return .document(pick(["null", "[]", "{}", "[1,2]", "\"a\"", "5"]))
    }
  }
}
