import Foundation
import PersistenceDriver
import Testing

@testable import PersistenceTool
import PersistencePrimitives

@Suite("Inference of field kinds")
struct InferenceTests {
  private func kind(json texts: [String]) throws -> FieldKind {
    var inference = FieldInference("f")
    for text in texts { inference.note(.json(try JSONParser.parse(text))) }
    return inference.kind
  }

  private func kind(cells texts: [String]) -> FieldKind {
    var inference = FieldInference("f")
    for text in texts { inference.note(text.isEmpty ? .json(.null) : .cell(text)) }
    return inference.kind
  }

  @Test("Values of one kind determine the field's kind")
  func plain() throws {
    #expect(try kind(json: ["1", "-5", "9223372036854775807"]) == .int64)
    #expect(try kind(json: ["1.5", "2e3"]) == .double)
    #expect(try kind(json: ["true", "false", "null"]) == .bool)
    #expect(try kind(json: ["\"a\"", "null"]) == .string)
    #expect(try kind(json: ["{}", "[1]", "null"]) == .document)
    #expect(try kind(json: ["null"]) == .string)
    #expect(try kind(json: ["\"6BA7B810-9DAD-11D1-80B4-00C04FD430C8\""]) == .uuid)
    #expect(try kind(json: ["\"6ba7b810-9dad-11d1-80b4-00c04fd430c8\""]) == .string)
    #expect(try kind(json: ["\"2001-01-01T00:00:00.5Z\""]) == .date)
    #expect(try kind(json: ["\"2001-01-01\""]) == .string)
    #expect(try kind(json: ["\"Jun 12 1998\""]) == .string)
  }

  @Test("The inferred kind of numbers loses no digits")
  func numbers() throws {
    #expect(try kind(json: ["1", "2.5"]) == .double)
    #expect(try kind(json: ["9007199254740993", "2.5"]) == .decimal)
    #expect(try kind(json: ["9223372036854775808"]) == .decimal)
    #expect(try kind(json: ["9223372036854775809"]) == .decimal)
    #expect(try kind(json: ["0.1234567890123456789012345"]) == .decimal)
    #expect(try kind(json: ["0.1234567890123456789012345", "1e300"]) == .string)
    #expect(
      try kind(json: ["1.5", "\"NaN\"", "\"-Infinity\""] + Array(repeating: "2.5", count: 20)) == .double)
    #expect(try kind(json: ["9007199254740993", "\"NaN\""] + Array(repeating: "2.5", count: 20)) == .string)
  }

  @Test("Nine in ten values determine the kind; otherwise it is text")
  func mixtures() throws {
    let nineteen = Array(repeating: "7", count: 19)
    #expect(try kind(json: nineteen + ["\"n/a\""]) == .int64)
    #expect(try kind(json: nineteen + ["\"12\""]) == .int64)
    #expect(try kind(json: ["7", "\"n/a\""]) == .string)
    #expect(try kind(json: Array(repeating: "\"1776\"", count: 5)) == .string)
    #expect(
      try kind(json: Array(repeating: "\"t\"", count: 3191) + Array(repeating: "5", count: 9)) == .string)
    #expect(try kind(json: Array(repeating: "true", count: 9) + ["\"x\""]) == .bool)
    #expect(try kind(json: ["true", "1"]) == .string)
    #expect(try kind(json: ["{}"] + Array(repeating: "\"t\"", count: 5)) == .document)
    #expect(try kind(json: ["{}"] + Array(repeating: "\"t\"", count: 50)) == .string)
  }

  @Test("Infers kinds from CSV text")
  func cells() {
    #expect(kind(cells: ["1", "2", ""]) == .int64)
    #expect(kind(cells: ["1", "2.5"]) == .double)
    #expect(kind(cells: ["true", "false"]) == .bool)
    #expect(kind(cells: ["007", "008"]) == .string)
    #expect(kind(cells: ["+1", "1"]) == .string)
    #expect(kind(cells: ["1 ", "2 "]) == .string)
    #expect(kind(cells: ["", ""]) == .string)
  }

  @Test("V5 A double or float field takes only the integers that it holds exactly")
  func integers() throws {
    func read(_ kind: FieldKind, _ value: SourceValue) throws -> PersistentValue {
      try FieldReader(field: FieldSchema("f", kind)).read(value).value
    }
    for (kind, text, number) in [
      (FieldKind.double, "9007199254740992", 9_007_199_254_740_992.0), (.double, "-7", -7),
      (.double, "9223372036854775808", 9_223_372_036_854_775_808), (.float, "16777216", 16_777_216),
      // The shortest digits of a number, and all its digits.
      (.double, "100000000000000000000000", 1e23), (.double, "99999999999999991611392", 1e23),
      (.float, "100000000000", Double(Float(1e11))),
      // A fraction becomes the nearest number.
      (.double, "0.10000000000000001", 0.1), (.float, "0.1", Double(Float(0.1))),
    ] {
      for value in [SourceValue.json(.number(text)), .json(.string(text)), .cell(text)] {
        #expect(try read(kind, value) == .double(number), "\(kind) \(value)")
      }
    }
    for (kind, text) in [
      (FieldKind.double, "9007199254740993"), (.double, "-9007199254740993"),
      (.double, "9223372036854775807"), (.double, "123456789012345678901"), (.float, "16777217"),
      (.float, "-123456789"),
    ] {
      for value in [SourceValue.json(.number(text)), .json(.string(text)), .cell(text)] {
        #expect(
          throws: RecordRejection(reason: "“f” is \(text), which a \(kind.rawValue) cannot hold exactly"),
          "\(value)"
        ) { try read(kind, value) }
      }
    }
  }

  @Test("Converts values without loss, or refuses")
  func readings() throws {
    func read(_ kind: FieldKind, _ text: String) throws -> FieldReader.Outcome {
      try FieldReader(field: FieldSchema("f", kind, isOptional: true)).read(.json(JSONParser.parse(text)))
    }
    #expect(try read(.string, "1776").value == .text("1776"))
    #expect(try read(.string, "1.50").value == .text("1.50"))
    #expect(try read(.string, "1776").conversion == "number to text")
    #expect(try read(.string, "[1, 2]").value == .text("[1,2]"))
    #expect(try read(.double, "7").conversion == "integer to double")
    #expect(try read(.double, "7.5").conversion == nil)
    #expect(try read(.int64, "\"12\"").value == .integer(12))
    #expect(try read(.int64, "7.0").value == .integer(7))
    #expect(try read(.document, "5").value == .document("5"))
    #expect(
      try read(.document, "{\"b\":1,\"a\":9007199254740993}").value
        == .document("{\"a\":9007199254740993,\"b\":1}"))
    #expect(try read(.int64, "null").value == .null)
    for (kind, text) in [
      (FieldKind.int64, "7.5"), (.int8, "128"), (.uint8, "-1"), (.int64, "9223372036854775808"), (.bool, "1"),
      (.double, "1e400"), (.float, "1e39"), (.uuid, "\"x\""), (.date, "\"x\""), (.data, "\"!\""),
      (.string, "true"),
      (.decimal, "\"Infinity\""), (.int64, "{}"),
    ] where kind != .string {
      #expect(throws: RecordRejection.self, "\(kind) \(text)") { try read(kind, text) }
    }
    #expect(throws: RecordRejection.self) {
      try FieldReader(field: FieldSchema("f", .int64)).read(.json(.null))
    }
  }
}
