import PersistenceDriver
import Testing

@testable import PersistenceKeyValue

@Suite("Revisions of rows")
struct RowRevisionTests {
  private func schema(_ fields: [FieldSchema], indexes: [IndexSchema] = []) throws -> ModelSchema {
    try ModelSchema(name: "Item", fields: [FieldSchema("id", .int64)] + fields, key: ["id"], indexes: indexes)
  }

  private func evolved(_ model: StoredModel, _ target: ModelSchema, _ sources: [SchemaChange.Source]) throws
    -> StoredModel
  {
    let change = try SchemaChange(from: model.schema, to: target, sources: sources)
    return try EvolutionPlan(change, of: model, isEmpty: false).model
  }

  @Test("The record of an evolved model survives encoding, and others keep the format of earlier versions")
  func encoding() throws {
    let first = try schema([FieldSchema("a", .string, isOptional: true)], indexes: [IndexSchema(["a"])])
    let model = StoredModel(number: 3, schema: first)
    #expect(try model.encoded()[4...].starts(with: KeyCodec.bytes(of: [.integer(2)])))
    let target = try schema(
      [FieldSchema("c", .double), FieldSchema("b", .string)],
      indexes: [IndexSchema(["c"]), IndexSchema(["b"])])
    var changed = try evolved(
      model, target, [.field(0), .fill(.double(2.5)), .field(1, replacingNil: .text("none"))])
    #expect(try changed.encoded()[4...].starts(with: KeyCodec.bytes(of: [.integer(4)])))
    for indexing in [StoredModel.Indexing.built, .awaited, .begun(77)] {
      changed.indexing = indexing
      let read = try changed.encoded().withUnsafeBytes { try StoredModel(number: 3, encoded: $0) }
      #expect(read.schema == target && read.indexing == indexing)
      let (left, right) = (try #require(read.evolution), try #require(changed.evolution))
      #expect(left.values == right.values && left.revision == 2 && left.earlier.count == 1)
    }
    #expect(changed.recordsPrefix == [0, 3])
    let sources: [SchemaChange.Source] = [.field(0), .computed, .field(2)]
    let change = try SchemaChange(from: target, to: target, sources: sources) { _, _ in }
    let copied = try EvolutionPlan(change, of: changed, isEmpty: false).model(recordsNumber: 260)
    #expect(try copied.encoded()[4...].starts(with: KeyCodec.bytes(of: [.integer(6)])))
    let read = try copied.encoded().withUnsafeBytes { try StoredModel(number: 3, encoded: $0) }
    #expect(read.number == 3 && read.recordsPrefix == [1, 4] && read.evolution?.earlier.isEmpty == true)
  }

  @Test("An index keeps its number while others are dropped, and a new index takes a free one")
  func indexNumbers() throws {
    let fields = ["a", "b", "c"].map { FieldSchema($0, .int64) }
    let model = StoredModel(
      number: 1, schema: try schema(fields, indexes: ["a", "b"].map { IndexSchema([$0]) }))
    let sources = (0..<4).map { SchemaChange.Source.field($0) }
    let dropped = try evolved(model, schema(fields, indexes: [IndexSchema(["b"])]), sources)
    #expect(dropped.evolution?.indexNumbers == [1])
    #expect(dropped.evolution?.revision == 1)
    let added = try evolved(dropped, schema(fields, indexes: ["c", "b"].map { IndexSchema([$0]) }), sources)
    #expect(added.evolution?.indexNumbers == [0, 1])
  }

  @Test("S2 rows of every earlier revision decode to the current fields, whole and in part")
  func decoding() throws {
    let first = try schema([FieldSchema("a", .string, isOptional: true), FieldSchema("n", .int8)])
    let zero = StoredModel(number: 1, schema: first)
    let one = try evolved(
      zero,
      schema([
        FieldSchema("n", .int64), FieldSchema("t", .string), FieldSchema("a", .string, isOptional: true),
      ]),
      [.field(0), .field(2), .fill(.text("first")), .field(1)])
    let two = try evolved(
      one,
      schema([
        FieldSchema("u", .bool), FieldSchema("t", .string), FieldSchema("a", .string),
        FieldSchema("n", .int64),
      ]),
      [.field(0), .fill(.bool(true)), .field(2), .field(3, replacingNil: .text("none")), .field(1)])
    let written: [(StoredModel, [PersistentValue], [PersistentValue])] = [
      (
        zero, [.integer(1), .null, .integer(5)],
        [.integer(1), .bool(true), .text("first"), .text("none"), .integer(5)]
      ),
      (
        zero, [.integer(1), .text("x"), .integer(5)],
        [.integer(1), .bool(true), .text("first"), .text("x"), .integer(5)]
      ),
      (
        one, [.integer(1), .integer(1 << 40), .text("own"), .null],
        [.integer(1), .bool(true), .text("own"), .text("none"), .integer(1 << 40)]
      ),
      (
        two, [.integer(1), .bool(false), .text("p"), .text("q"), .integer(7)],
        [.integer(1), .bool(false), .text("p"), .text("q"), .integer(7)]
      ),
    ]
    let layout = RowLayout(of: two, declared: two.schema)
    for (model, values, expected) in written {
      let row = RowBuffer(count: values.count)
      row.set(values)
      let writer = RowLayout(of: model, declared: model.schema)
      let bytes = try row.withRow { row in
        var bytes = [UInt8](repeating: 0, count: try writer.packedLength(of: row))
        bytes.withUnsafeMutableBytes { writer.pack(row, into: $0) }
        return bytes
      }
      let found = RowBuffer(count: 5)
      try bytes.withUnsafeBytes { bytes in
        try layout.fill(found, from: bytes)
        #expect(try found.withRow { try $0.values() } == expected)
        for position in 0..<5 {
          found.reset()
          try layout.fill(found, from: bytes, only: [position])
          #expect(try found.withRow { try $0.value(at: position) } == expected[position])
        }
      }
      for index in bytes.indices {
        var damaged = bytes
        damaged[index] ^= 4
        #expect(throws: PersistenceError.self) {
          try damaged.withUnsafeBytes { try layout.fill(found, from: $0) }
        }
      }
    }
  }
}
