import PersistenceConformance
import Foundation
import PersistenceDriver
import Testing

@testable import PersistenceKeyValue

@Suite("Packed rows")
struct PackedRowTests {
  private static let kinds = FieldKind.allCases

  private static func schema(_ kinds: [FieldKind]) throws -> ModelSchema {
    try ModelSchema(
      name: "All",
      fields: [FieldSchema("id", .int64)]
        + kinds.map { FieldSchema("\($0.rawValue)", $0, isOptional: true) },
      key: ["id"])
  }

  private func pack(_ values: [PersistentValue], _ layout: RowLayout) throws -> [UInt8] {
    let row = RowBuffer(count: values.count)
    row.set(values)
    return try row.withRow { row in
      let length = try layout.packedLength(of: row)
      var bytes = [UInt8](repeating: 0xAA, count: length)
      bytes.withUnsafeMutableBytes { layout.pack(row, into: $0) }
      return bytes
    }
  }

  private func unpack(_ bytes: [UInt8], _ layout: RowLayout) throws -> [PersistentValue] {
    let row = RowBuffer(count: layout.count)
    return try bytes.withUnsafeBytes { bytes in
      // A row that can be read in place has the values that decoding finds.
      let inPlace = layout.record(in: bytes).map { packed in
        Result { try Row(packed: packed, count: layout.count).values() }
      }
      try layout.fill(row, from: bytes)
      let values = Result { try row.withRow { try $0.values() } }
      if let inPlace { #expect((try? inPlace.get()) == (try? values.get())) }
      return try values.get()
    }
  }

  private func canReadInPlace(_ bytes: [UInt8], _ layout: RowLayout) -> Bool {
    bytes.withUnsafeBytes { layout.record(in: $0) != nil }
  }

  private func row(_ values: inout RandomValues) -> [PersistentValue] {
    [values.value(.int64)] + Self.kinds.map { values.random.oneIn(4) ? .null : values.value($0) }
  }

  @Test("V2 every kind survives packing, and empty differs from nil")
  func roundTrip() throws {
    let schema = try Self.schema(Self.kinds)
    let layout = RowLayout(stored: schema, declared: schema)
    var values = RandomValues(seed: 5)
    for _ in 0..<500 {
      let row = row(&values)
      let packed = try pack(row, layout)
      #expect(canReadInPlace(packed, layout))
      #expect(try unpack(packed, layout) == row)
    }
    var empty = [PersistentValue](repeating: .null, count: Self.kinds.count + 1)
    empty[0] = .integer(0)
    empty[try #require(schema.position(of: "string"))] = .text("")
    empty[try #require(schema.position(of: "data"))] = .bytes([])
    #expect(try unpack(pack(empty, layout), layout) == empty)
  }

  @Test("E4 a schema with another field order reads and writes the same record")
  func permuted() throws {
    let stored = try Self.schema(Self.kinds)
    var random = SeededGenerator(seed: 6)
    let fields = stored.fields.shuffled(using: &random)
    let declared = try ModelSchema(name: "All", fields: fields, key: ["id"])
    let (first, second) = (
      RowLayout(stored: stored, declared: stored), RowLayout(stored: stored, declared: declared)
    )
    var values = RandomValues(seed: 7)
    for _ in 0..<100 {
      let row = row(&values)
      let permuted = fields.map { row[stored.position(of: $0.name) ?? 0] }
      #expect(try pack(row, first) == pack(permuted, second))
      #expect(try unpack(pack(row, first), second) == permuted)
    }
  }

  @Test("E5 R4 every changed byte is detected")
  func damage() throws {
    let schema = try Self.schema(Self.kinds)
    let layout = RowLayout(stored: schema, declared: schema)
    var values = RandomValues(seed: 8)
    for _ in 0..<50 {
      let bytes = try pack(row(&values), layout)
      for index in bytes.indices {
        var damaged = bytes
        damaged[index] ^= 1 << UInt8(values.random.int(0...7))
        #expect(throws: PersistenceError.self) { try unpack(damaged, layout) }
        #expect(!canReadInPlace(damaged, layout))
      }
      for length in 0..<bytes.count {
        let cut = Array(bytes[..<length])
        #expect(throws: PersistenceError.self) { try unpack(cut, layout) }
        #expect(!canReadInPlace(cut, layout))
      }
    }
  }

  @Test("E5 forged rows with valid checksums are read within their bounds or rejected")
  func hostile() throws {
    let schema = try Self.schema(Self.kinds)
    let layout = RowLayout(stored: schema, declared: schema)
    var values = RandomValues(seed: 9)
    var refused = 0
    for _ in 0..<20_000 {
      var bytes = try pack(row(&values), layout)
      for _ in 0..<values.random.int(1...4) {
        bytes[values.random.int(12...bytes.count - 1)] = values.random.pick([0, 1, 2, 0x7F, 0x80, 0xFF])
      }
      bytes.withUnsafeMutableBytes { layout.seal($0) }
      do {
        _ = try unpack(bytes, layout)
      } catch let error as PersistenceError {
        #expect(error.code == .damaged)
        refused += 1
      }
    }
    #expect(refused > 1000)
  }

  @Test("E5 a typed value is read in place only from a field of its kind, and a missing field is nil")
  func typed() throws {
    let stored = try Self.schema([.string, .bool])
    let declared = try ModelSchema(
      name: "All", fields: stored.fields + [FieldSchema("added", .int64, isOptional: true)], key: ["id"])
    let packed = try pack([.integer(1), .text("x"), .null], RowLayout(stored: stored, declared: stored))
    let layout = RowLayout(stored: stored, declared: declared)
    try packed.withUnsafeBytes { bytes in
      let packed = try #require(layout.record(in: bytes))
      let row = Row(packed: packed, count: layout.count)
      let id = try Int64.read(from: row, at: 0)
      let text = try String?.read(from: row, at: 1)
      let (truth, added) = (try Bool?.read(from: row, at: 2), try Int64?.read(from: row, at: 3))
      #expect((id, text) == (1, "x"))
      #expect(truth == nil && added == nil)
      var refusals = 0
      for position in [-1, 0, 1, 2, 3, 4] {
        do { _ = try Bool.read(from: row, at: position) } catch { refusals += 1 }
      }
      do { _ = try Int64?.read(from: row, at: 4) } catch { refusals += 1 }
      #expect(refusals == 7)
    }
  }

  @Test("A row that violates the schema is rejected before it is packed")
  func refusals() throws {
    let schema = try Self.schema([.string])
    let layout = RowLayout(stored: schema, declared: schema)
    for row in [[.null, .text("x")], [.integer(1), .integer(2)], [.text("1"), .null]] as [[PersistentValue]] {
      let error = #expect(throws: PersistenceError.self) { try pack(row, layout) }
      #expect(error?.code == .encodingFailed)
    }
  }
}
