import Foundation
import PersistenceDriver
import PersistenceMigration
import Testing

@Suite("Digests")
struct DigestTests {
  private func digest(_ schema: ModelSchema, _ rows: [[PersistentValue]]) -> ContentDigest {
    let digester = RecordDigester(schema)
    var content = ContentDigest()
    let buffer = RowBuffer(count: schema.fields.count)
    for values in rows {
      buffer.set(values)
      content.add(buffer.withRow { digester.digest(of: $0) })
    }
    return content
  }

  private func schema(_ fields: FieldSchema...) throws -> ModelSchema {
    try ModelSchema(name: "M", fields: fields, key: ["id"])
  }

  @Test("A known record has the SHA-256 digest computed by hand")
  func knownDigest() throws {
    // Names: SHA-256 of 8 bytes of length and “id”; record: that, tag 2, and eight bytes of the integer.
    // python3: n=sha256((2).to_bytes(8,'big')+b'id').digest(); sha256(n+b'\x02'+(7).to_bytes(8,'big')).hexdigest()
    let schema = try schema(FieldSchema("id", .int64))
    #expect("\(digest(schema, [[.integer(7)]]))" == Self.known)
  }

  @Test("The order of records and fields does not affect the digest")
  func orderDoesNotCount() throws {
    let one = try schema(FieldSchema("id", .int64), FieldSchema("t", .string, isOptional: true))
    let other = try schema(FieldSchema("t", .string, isOptional: true), FieldSchema("id", .int64))
    let rows: [[PersistentValue]] = (0..<50).map { [.integer($0), $0 % 3 == 0 ? .null : .text("t\($0)")] }
    let expected = digest(one, rows)
    #expect(digest(one, rows.shuffled()) == expected)
    #expect(digest(other, rows.map { [$0[1], $0[0]] }) == expected)
  }

  @Test("Different content has different digests: nil and empty, kinds, text boundaries, names, counts")
  func differencesCount() throws {
    let text = try schema(
      FieldSchema("id", .int64), FieldSchema("a", .string, isOptional: true),
      FieldSchema("b", .string, isOptional: true))
    let renamed = try schema(
      FieldSchema("id", .int64), FieldSchema("a", .string, isOptional: true),
      FieldSchema("c", .string, isOptional: true))
    let digests = [
      digest(text, []), digest(text, [[.integer(1), .null, .null]]),
      digest(text, [[.integer(1), .text(""), .null]]),
      digest(text, [[.integer(1), .null, .text("")]]),
      digest(text, [[.integer(1), .text("ab"), .text("c")]]),
      digest(text, [[.integer(1), .text("a"), .text("bc")]]),
      digest(text, [[.integer(1), .text("é"), .null]]),
      digest(text, [[.integer(1), .text("e\u{301}"), .null]]),
      digest(renamed, [[.integer(1), .null, .text("")]]),
      digest(text, [[.integer(1), .null, .null], [.integer(1), .null, .null]]),
    ]
    #expect(Set(digests).count == digests.count)
  }

  @Test("V4 −0.0 and 0.0 have equal digests, as do all NaN")
  func normalizedDoubles() throws {
    let schema = try schema(FieldSchema("id", .int64), FieldSchema("d", .double))
    #expect(digest(schema, [[.integer(1), .double(-0.0)]]) == digest(schema, [[.integer(1), .double(0.0)]]))
    let odd = Double(nan: 5, signaling: false)
    #expect(digest(schema, [[.integer(1), .double(odd)]]) == digest(schema, [[.integer(1), .double(.nan)]]))
  }

  @Test("Long values, hashed without a copy, have the same digest as copied ones")
  func longValues() throws {
    let schema = try schema(FieldSchema("id", .int64), FieldSchema("t", .string))
    let lengths = [4095, 4096, 4097, 100_000]
    let digests = lengths.map { digest(schema, [[.integer(1), .text(String(repeating: "x", count: $0))]]) }
    #expect(Set(digests).count == lengths.count)
    #expect("\(digests[2])" == Self.knownLong)
  }

  @Test("A digest survives encoding as text")
  func coding() throws {
    let schema = try schema(FieldSchema("id", .int64))
    let digest = digest(schema, [[.integer(7)], [.integer(8)]])
    let data = try JSONEncoder().encode([digest])
    #expect(try JSONDecoder().decode([ContentDigest].self, from: data) == [digest])
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([ContentDigest].self, from: Data("[\"zz\"]".utf8))
    }
  }

  private static let known = "8d8475d336916fa6aebdd44ede5a39ff26b5a04dbbb4dd3de86424a17340d664"
  private static let knownLong = "6c3f1773253a65e0c277e7dfe0cd67c5fbb9a3aeb1dd39d54ef186ed0e3802d8"
}
