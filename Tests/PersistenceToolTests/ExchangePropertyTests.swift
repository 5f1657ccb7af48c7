import Foundation
import PersistenceConformance
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceMigration
import PersistencePrimitives
import PersistenceTool
import Testing

@Suite("Export and import of generated stores")
struct ExchangePropertyTests {
  static let schemes = ToolEngines.ofFiles.map(\.scheme) + ["memory"]

  @Test(
    "V2 V5 E6 Every kind of value and every name comes back as it was", arguments: schemes, ["ndjson", "csv"])
  func identity(scheme: String, format: String) throws {
    for seed in 0..<12 {
      var random = ExchangeRandom(seed: UInt64(seed) &* 7919 &+ 1)
      let folder = try TemporaryFolder()
      let schema = try random.schema()
      let source = try open(scheme, folder, "source")
      try fill(source, schema, &random)
      let (out, into) = (tool("source", source), folder("file.\(format)"))
      let exported = out("export", "source:", schema.name, into)
      #expect(exported.code == 0, "seed \(seed): \(exported)")
      let destination = try open(scheme, folder, "destination")
      let imported = tool("destination", destination)("import", into, "destination:")
      #expect(imported.code == 0, "seed \(seed): \(imported)")
      let report = try StoreComparison(source, destination).run()
      #expect(report.isEqual && report.models.first?.unchanged == 40, "seed \(seed): \(report)")
      // A second export has the same bytes.
      let again = tool("destination", destination)(
        "export", "destination:", schema.name, folder("again.\(format)"))
      #expect(again.code == 0)
      #expect(
        FileManager.default.contentsEqual(atPath: into, andPath: folder("again.\(format)")), "seed \(seed)")
      try source.close()
      try destination.close()
    }
  }

  private func open(_ scheme: String, _ folder: TemporaryFolder, _ name: String) throws -> any StorageContext
  {
    let text = scheme == "memory" ? "memory:" : "\(scheme):\(folder(name))"
    let context = try StorageEngine.open(text, engines: ToolEngines.ofFiles, monitoring: Monitoring())
    return try #require(context as? any StorageContext)
  }

  /// A tool with an open store that ignores closing.
  private func tool(_ scheme: String, _ store: any StorageContext) -> ToolHarness {
    var tool = ToolHarness()
    tool.engines.append(StorageEngine(scheme: scheme, options: []) { _, _, _ in OpenStore(store) })
    return tool
  }

  private func fill(_ store: any StorageContext, _ schema: ModelSchema, _ random: inout ExchangeRandom) throws
  {
    let row = RowBuffer(count: schema.fields.count)
    try store.transaction { transaction in
      try transaction.define(schema)
      for number in 0..<40 {
        row.set(
          schema.fields.enumerated().map { position, field in
            schema.keyPositions.first == position
              ? random.key(field.kind, number) : random.value(field)
          })
        try row.withRow { try transaction.insert($0, in: schema) }
      }
    }
  }
}

/// A store that ignores closing.
private final class OpenStore: StorageContextWrapper {
  let wrapped: any StorageContext

  init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  func close() throws {}
}

/// Random schemas and values from a seed, with many edge cases.
private struct ExchangeRandom {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func next() -> UInt64 { generator.next() }
  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
  mutating func one<Value>(of values: [Value]) -> Value { values[below(values.count)] }

  private static let names = [
    "", " ", "a,b", "\"q\"", "line\nfeed", "cr\r\nlf", "\u{FEFF}bom", "é", "e\u{301}", "id", "ID", "sqlite_x",
    "null",
    "a\0b", "$json", "../x", "😀", "=1+1", "'", "\t", "\"\u{301}", ",\u{301}b", "\r\u{301}\n",
  ]

  mutating func schema() throws -> ModelSchema {
    var names = Self.names
    func take(_ random: inout ExchangeRandom) -> String { names.remove(at: random.below(names.count)) }
    let key = FieldSchema(take(&self), one(of: [.int64, .string, .uuid]))
    var fields = FieldKind.allCases.map { FieldSchema(take(&self), $0, isOptional: below(3) > 0) }
    fields.insert(key, at: below(fields.count + 1))
    let indexed = fields.first { $0.kind.isOrdered && $0.name != key.name }
    return try ModelSchema(
      name: one(of: Self.names), fields: fields, key: [key.name],
      indexes: indexed.map { [IndexSchema([$0.name])] } ?? [])
  }

  mutating func key(_ kind: FieldKind, _ number: Int) -> PersistentValue {
    switch kind {
    case .int64: .integer(number == 0 ? .min : number == 1 ? .max : Int64(bitPattern: next()))
    case .uuid: .uuid(generator.uuid())
    default: .text(number == 0 ? "" : text() + "\(number)")
    }
  }

  mutating func value(_ field: FieldSchema) -> PersistentValue {
    if field.isOptional, below(4) == 0 { return .null }
    switch field.kind {
    case .bool: return .bool(below(2) == 0)
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
      let range = field.kind.integerRange ?? 0...0
      let any = Int64(bitPattern: next())
      return .integer(
        one(
          of: [range.lowerBound, range.upperBound, range.contains(any) ? any : 0, 9_007_199_254_740_993]
            .filter(range.contains)))
    case .double: return .double(TotalOrder.normalized(double()))
    case .float: return .double(TotalOrder.normalized(Double(Float(double()))))
    case .date:
      return .date(
        TotalOrder.normalized(below(2) == 0 ? double() : Double(Int64(bitPattern: next()) >> 25) / 1000))
    case .string: return .text(text())
    case .url: return .text(one(of: ["https://x.example/a?b=c,d#e", "file:///a%20b", "x:y", "a"]))
    case .data: return .bytes((0..<below(40)).map { _ in UInt8(truncatingIfNeeded: next()) })
    case .uuid: return .uuid(generator.uuid())
    case .decimal:
      let texts = [
        "0", "-1.5", "12345678901234567890123456789.012345678", "NaN", "0.000000000000000000000001",
        "1000000",
      ]
      return .decimal(Decimal(canonicalText: one(of: texts)) ?? 0)
    case .document: return .document(JSONText.canonical(json(3)))
    }
  }

  private mutating func double() -> Double {
    one(of: [
      .nan, .infinity, -.infinity, -0.0, 0.1, 1e22, .leastNonzeroMagnitude * 2000, .greatestFiniteMagnitude,
      9_007_199_254_740_992,
      5,
      Double(bitPattern: next()), Double(Int64(bitPattern: next())) / 3,
    ])
  }

  private mutating func text() -> String {
    let parts = [
      "", "NaN", "null", "a\0b", "\"", "\"\"", ",", "\r\n", "\n", "\r", "\u{FEFF}", "é", "e\u{301}", "😀",
      "\u{2028}", " ",
      "1e5", "true", "\\", "{\"$json\":null}", "2020-01-01", "@1", "=1+1", "\u{7F}", "x",
    ]
    return (0..<below(4)).map { _ in one(of: parts) }.joined()
  }

  private mutating func json(_ depth: Int) -> JSONValue {
    switch below(depth > 0 ? 8 : 6) {
    case 0: return .null
    case 1: return .bool(below(2) == 0)
    case 2:
      return .number(one(of: ["9007199254740993", "0.10", "1e400", "-0", "123456789012345678901234567890"]))
    case 3, 4, 5: return .string(text())
    case 6: return .array((0..<below(4)).map { _ in json(depth - 1) })
    default:
      var members: [JSONMember] = []
      for name in ["$json", "a", "\0", "é", "b c"] where below(3) == 0 {
        members.append(JSONMember(name, json(depth - 1)))
      }
      return .object(members)
    }
  }
}
