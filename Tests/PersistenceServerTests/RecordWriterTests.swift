import Foundation
import PersistenceConformance
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import PersistencePrimitives
import Testing

/// The writer of rows writes what a tree of values would be written as.
@Suite("Records as JSON")
struct RecordWriterTests {
  private func written(_ value: PersistentValue, _ kind: FieldKind) throws -> String {
    let row = RowBuffer(count: 1)
    row.set(value, at: 0)
    let writer = RecordWriter([FieldSchema("value", kind, isOptional: true)])
    var bytes: [UInt8] = []
    try row.withRow { try writer.append($0, to: &bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func check(_ value: PersistentValue, _ kind: FieldKind) throws {
    let field = FieldSchema("value", kind, isOptional: true)
    let json = JSONText.canonical(try ValueWriter.json(value.normalized, field))
    let text = try written(value, kind)
    #expect(text.utf8.elementsEqual("{\"value\":\(json)}".utf8), "\(text) instead of \(json)")
  }

  @Test("V5 integers, at every number of digits")
  func integers() throws {
    var integers: [Int64] = [0, Int64.min, Int64.min + 1, Int64.max]
    var power: Int64 = 1
    while power <= Int64.max / 10 {
      power *= 10
      for near in [power - 1, power, power + 1] { integers += [near, -near] }
    }
    for integer in integers { try check(.integer(integer), .int64) }
  }

  @Test("V2 V4 doubles and floats, whole or not, to the bit")
  func numbers() throws {
    var random = SeededGenerator(seed: 11)
    var numbers: [Double] = [
      0, -0.0, 0.1, -0.1, 1e15, 1e16, 1e17, 1e300, 123_456_789_012_345_680, .leastNonzeroMagnitude,
      .greatestFiniteMagnitude, .infinity, -.infinity, .nan, .pi, 1e-4, 9.999e-5,
    ]
    for exponent in 0..<64 {
      let power = Double(sign: .plus, exponent: exponent, significand: 1)
      let (less, more) = (power - 1, power + 1)
      for near in [power, power.nextUp, power.nextDown, less, more, power / 3] { numbers += [near, -near] }
    }
    for _ in 0..<2_000 {
      numbers.append(Double(bitPattern: random.next()))
      numbers.append(Double.random(in: -1e16...1e16, using: &random).rounded())
    }
    for number in numbers {
      try check(.double(number), .double)
      if number.isNaN || Double(Float(number)) == number { try check(.double(number), .float) }
    }
  }

  @Test("V2 dates of whole seconds and of any others")
  func dates() throws {
    var random = SeededGenerator(seed: 12)
    var dates: [Double] = [
      0, -0.0, 0.5, -0.25, -1, -12.25, 86_399, 86_399.999, 86_400, -63_113_904_000, -63_113_904_001,
      252_423_993_599, 252_423_993_600, -978_307_200, 1e-9, 1e300, .nan, .infinity, -.infinity,
      -31_622_400, -26_524_800,
    ]
    for _ in 0..<1_000 {
      dates.append(Double.random(in: -64e9...253e9, using: &random).rounded())
      dates.append(Double.random(in: -1e9...1e9, using: &random))
    }
    for date in dates { try check(.date(date), .date) }
  }

  @Test("V3 every ASCII character at every place of short and long texts")
  func characters() throws {
    for length in [1, 2, 7, 8, 9, 15, 16, 17] {
      for character: UInt8 in 0..<128 {
        for place in 0..<length {
          var bytes = [UInt8](repeating: UInt8(ascii: "x"), count: length)
          bytes[place] = character
          try check(.text(String(decoding: bytes, as: UTF8.self)), .string)
        }
      }
    }
  }

  @Test(
    "V3 texts beyond ASCII, and with several escapes",
    arguments: [
      "", "é", "e\u{301}", "日本語", "😀", "a😀b\"c\\d\u{1}", "\"\"\"\"\"\"\"\"", "\\\\\\\\\\\\\\\\\\",
      "\u{7F}\u{80}\u{2028}", "1234567é", "12345678é", "é2345678\"", "line\nline\r\n\t\u{8}\u{C}", "\0",
    ])
  func texts(text: String) throws {
    try check(.text(text), .string)
    try check(.text(text), .url)
  }

  @Test("V3 texts of any length are written whole")
  func lengths() throws {
    // The room for the pieces of a record has 1,024 bytes, of which a text takes two more than its own.
    var lengths = [0, 1, 1000, 2047, 2048, 5000]
    lengths += 1009...1030
    for length in lengths {
      let text = String(repeating: "x", count: length)
      for text in [text, text + "é", "\"" + text, text + "\n"] { try check(.text(text), .string) }
      try check(.bytes([UInt8](repeating: 0xA5, count: length)), .data)
    }
  }

  @Test("V1 rows of any number of values are written whole, also after a long text")
  func manyFields() throws {
    let values: [(PersistentValue, FieldKind)] = [
      (.integer(Int64.min), .int64), (.double(-123_456_789), .double), (.double(0.1), .double),
      (.date(1), .date), (.date(0.5), .date), (.uuid(UUID()), .uuid), (.text("a text"), .string),
      (.text("é\""), .string), (.null, .string), (.bool(true), .bool), (.bytes([1, 2, 3, 4]), .data),
      (.document(#"{"a":[1]}"#), .document), (.double(1.5), .float),
      (.text(String(repeating: "y", count: 1010)), .string),
    ]
    for count in 1...60 {
      for first in 0..<values.count {
        let chosen = (0..<count).map { values[(first + $0) % values.count] }
        let fields = chosen.enumerated().map { position, value in
          FieldSchema("field\(1000 + position)", value.1, isOptional: true)
        }
        let row = RowBuffer(count: count)
        for (position, value) in chosen.enumerated() { row.set(value.0, at: position) }
        var bytes = Array("before".utf8)
        try row.withRow { try RecordWriter(fields).append($0, to: &bytes) }
        let members = try zip(chosen, fields).map { value, field in
          JSONMember(field.name, try ValueWriter.json(value.0.normalized, field))
        }
        let expected = "before" + JSONText.canonical(.object(members))
        #expect(bytes == Array(expected.utf8), "\(count) fields from \(first) on")
      }
    }
  }

  @Test("a text that is not UTF-8 is repaired")
  func repaired() throws {
    let row = RowBuffer(count: 1)
    let writer = RecordWriter([FieldSchema("value", .string)])
    var bytes: [UInt8] = []
    try ([0x61, 0xFF, 0x22] as [UInt8]).withUnsafeBytes { text in
      row.setCell(.text(text), at: 0)
      try row.withRow { try writer.append($0, to: &bytes) }
    }
    #expect(String(decoding: bytes, as: UTF8.self) == "{\"value\":\"a\u{FFFD}\\\"\"}")
  }

  @Test("V1 all other kinds")
  func others() throws {
    var random = SeededGenerator(seed: 13)
    for kind in FieldKind.allCases { try check(.null, kind) }
    for truth in [true, false] { try check(.bool(truth), .bool) }
    for _ in 0..<100 {
      let halves = (random.next(), random.next())
      try check(.uuid(withUnsafeBytes(of: halves) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }), .uuid)
    }
    for length in 0..<70 {
      try check(.bytes((0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }), .data)
    }
    for text in ["0", "-1.5", "12345678901234567890.123", "NaN"] {
      try check(.decimal(try #require(Decimal(canonicalText: text))), .decimal)
    }
    for document in ["null", "{}", #"{"$json":1}"#, #"{"a":[1,2.50,"é\n"],"b":null}"#] {
      try check(.document(document), .document)
    }
  }

  @Test("members are sorted by the bytes of their names, which are escaped, and further cells are ignored")
  func names() throws {
    let names = ["b", "a\"b", "é", "e\u{301}", "", "B", "z\n", "😀"]
    let schema = try ModelSchema(
      name: "M", fields: names.map { FieldSchema($0, .int64) }, key: ["b"])
    let row = RowBuffer(count: names.count + 1)
    for position in 0...names.count { row.set(.integer(Int64(position)), at: position) }
    let text = try row.withRow { try RecordJSON.line($0, schema) }
    let members = names.enumerated().map { JSONMember($0.element, .number("\($0.offset)")) }
    #expect(text.utf8.elementsEqual(JSONText.canonical(.object(members)).utf8))
  }

  @Test("a malformed document or decimal is damage, and nothing is written instead")
  func damaged() throws {
    for kind in [FieldKind.document, .decimal] {
      let row = RowBuffer(count: 1)
      let writer = RecordWriter([FieldSchema("value", kind)])
      Array("[1,".utf8).withUnsafeBytes { text in
        row.setCell(kind == .document ? .document(text) : .decimal(text), at: 0)
        let error = #expect(throws: PersistenceError.self) {
          var bytes: [UInt8] = []
          try row.withRow { try writer.append($0, to: &bytes) }
        }
        #expect(error?.code == .damaged)
      }
    }
  }
}
