import Foundation
import PersistenceConformance
import PersistenceDriver
import Testing

@testable import PersistenceJSON

/// The content of record files, and its round trip (contract V1, V2, V4, V5).
struct RecordMembersTests {
  private let schema: ModelSchema

  init() throws {
    schema = try ModelSchema(
      name: "Everything",
      fields: [FieldSchema("id", .string)]
        + FieldKind.allCases.map { FieldSchema($0.rawValue, $0, isOptional: true) }, key: ["id"])
  }

  private func row(_ values: [FieldKind: PersistentValue], id: String = "x") -> [PersistentValue] {
    [.text(id)] + FieldKind.allCases.map { values[$0] ?? .null }
  }

  private func text(_ values: [PersistentValue]) throws -> [UInt8] {
    let row = RowBuffer(count: schema.fields.count)
    row.set(values)
    return try row.withRow { try RecordText.text(of: $0, in: schema) }
  }

  private func values(_ text: [UInt8]) throws -> [PersistentValue] {
    let row = RowBuffer(count: schema.fields.count)
    try RecordText.fill(row, from: text, in: schema)
    return try row.withRow { try $0.values() }
  }

  private func values(_ member: String) throws -> [PersistentValue] {
    try values(Array("{\n  \"id\": \"x\",\n  \(member)\n}\n".utf8))
  }

  @Test("a record's file is readable: sorted members, one per line")
  func readable() throws {
    let uuid = try #require(UUID(uuidString: "6F9619FF-8B86-D011-B42D-00C04FC964FF"))
    let decimal = try #require(Decimal(canonicalText: "12345678901234567890.12"))
    let text = try text(
      row([
        .bool: .bool(true), .int64: .integer(.max), .double: .double(0.1), .string: .text("é \"x\"\n"),
        .data: .bytes([1, 2, 255]), .date: .date(300_931_200), .uuid: .uuid(uuid),
        .url: .text("https://swift.org"),
        .decimal: .decimal(decimal), .document: .document(#"{"a":[1,9007199254740993]}"#),
        .int8: .integer(-128), .float: .double(Double(Float(0.1))),
      ]))
    #expect(
      String(decoding: text, as: UTF8.self) == """
        {
          "bool": true,
          "data": "AQL/",
          "date": "2010-07-16T00:00:00Z",
          "decimal": 12345678901234567890.12,
          "document": {
            "a": [
              1,
              9007199254740993
            ]
          },
          "double": 0.1,
          "float": 0.1,
          "id": "x",
          "int16": null,
          "int32": null,
          "int64": 9223372036854775807,
          "int8": -128,
          "string": "é \\"x\\"\\n",
          "uint16": null,
          "uint32": null,
          "uint8": null,
          "url": "https://swift.org",
          "uuid": "6F9619FF-8B86-D011-B42D-00C04FC964FF"
        }

        """)
  }

  @Test("V2 V4 edge values survive a round trip")
  func edges() throws {
    let cases: [(FieldKind, [PersistentValue])] = [
      (.bool, [.bool(false), .bool(true)]),
      (.int64, [.integer(.min), .integer(.max), .integer(1 << 53 + 1)]),
      (.uint32, [.integer(0), .integer(4_294_967_295)]),
      (
        .double,
        [
          .double(.nan), .double(.infinity), .double(-.infinity), .double(.leastNonzeroMagnitude),
          .double(1.7976931348623157e308),
          .double(9_007_199_254_740_994), .double(1e16), .double(0.1 + 0.2), .double(-1),
        ]
      ),
      (
        .float,
        [
          .double(Double(Float(0.1))), .double(Double(Float.leastNonzeroMagnitude)),
          .double(Double(Float.greatestFiniteMagnitude)), .double(.nan), .double(-.infinity),
        ]
      ),
      (
        .string,
        [
          .text(""), .text("\u{0}"), .text("é"), .text("e\u{301}"), .text("\u{FEFF}x"), .text("👨‍👩‍👧‍👦"),
          .text("\u{2028}"),
          .text("null"), .text("a\u{0}b\u{1F}\u{7F}"), .text("\u{10FFFF}"),
        ]
      ),
      (.data, [.bytes([]), .bytes([0]), .bytes(Array(0...255))]),
      (
        .date,
        [.date(0), .date(.nan), .date(-.infinity), .date(-0.1), .date(1e300), .date(631_152_000.123456789)]
      ),
      (.url, [.text("file:///a%20b"), .text("x")]),
      (
        .decimal,
        [
          .decimal(.nan), .decimal(0), .decimal(.greatestFiniteMagnitude), .decimal(.leastFiniteMagnitude),
          .decimal(Decimal(sign: .minus, exponent: -20, significand: 123)),
          .decimal(Decimal(sign: .plus, exponent: -128, significand: 1)),
        ]
      ),
      (
        .document,
        [
          .document("null"), .document("[]"), .document("{}"), .document("\"\""), .document("0"),
          .document("false"),
          .document(#"{"$json":null}"#), .document(#"{"$json":{"$json":1}}"#),
          .document(#"{"$json":1,"a":2}"#),
          .document(#"[1.50,1e5,9007199254740993]"#), .document("{\"e\u{301}\":1,\"é\":2}"),
        ]
      ),
    ]
    for (kind, all) in cases {
      for value in all {
        let row = row([kind: value])
        #expect(try values(text(row)) == row, "\(kind) \(value)")
      }
    }
    #expect(try values(text(row([.double: .double(-0.0)]))) == row([.double: .double(0)]))
  }

  @Test("V2 random doubles, strings and bytes survive a round trip to the bit")
  func randomValues() throws {
    var random = SeededGenerator(seed: 11)
    for _ in 0..<3_000 {
      let double = TotalOrder.normalized(Double(bitPattern: random.next()))
      let float = TotalOrder.normalized(
        Double(Float(bitPattern: UInt32.random(in: 0...UInt32.max, using: &random))))
      let scalars = (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in
        Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &random))
      }
      var string = ""
      string.unicodeScalars.append(contentsOf: scalars)
      let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      let row = row(
        [
          .double: .double(double), .float: .double(float), .string: .text(string), .data: .bytes(bytes),
          .date: .date(double), .int64: .integer(Int64(bitPattern: random.next())),
        ], id: string)
      let back = try values(text(row))
      #expect(back == row)
      if case .double(let number) = back[1 + (FieldKind.allCases.firstIndex(of: .double) ?? 0)] {
        #expect(number.bitPattern == double.bitPattern)
      }
    }
  }

  @Test("a missing member of an optional field is nil")
  func missing() throws {
    #expect(try values("\"bool\": null") == row([:]))
  }

  @Test(
    "E5 an error about an invalid member has its line and column",
    arguments: [
      "\"int8\": 128", "\"uint8\": -1", "\"int64\": 9223372036854775808", "\"int64\": 1.5",
      "\"int64\": \"x\"", "\"bool\": 1", "\"bool\": \"yes\"", "\"double\": \"nan\"", "\"double\": 1e400",
      "\"float\": 1e300", "\"string\": 5", "\"data\": \"***\"", "\"data\": \"AQL\"", "\"date\": 5",
      "\"date\": \"today\"",
      "\"uuid\": \"x\"", "\"decimal\": \"x\"", "\"decimal\": 1e200",
      "\"decimal\": 1.00000000000000000000000000000000000000001", "\"unknown\": 1", "\"url\": []",
      "\"id\": \"y\"",
      "\"string\": {}",
    ])
  func misfits(member: String) throws {
    let error = try #require(throws: PersistenceError.self) { try values(member) }
    #expect(error.code == .damaged)
    #expect(error.message.contains("line 3, column 3"), "\(error)")
  }

  @Test(
    "E5 text that is not a record is rejected",
    arguments: ["", "[]", "null", "{\"id\": null}", "{}", "{\"id\": \"x\"", "\u{0}"])
  func noRecord(text: String) throws {
    let error = try #require(throws: PersistenceError.self) { try values(Array(text.utf8)) }
    #expect(error.code == .damaged)
  }
}
