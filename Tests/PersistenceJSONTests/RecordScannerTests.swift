import Foundation
import PersistenceConformance
import PersistenceDriver
import Testing

@testable import PersistenceJSON

/// The scanner compared with the parser: it may give up, but never differ.
struct RecordScannerTests {
  private let schema: ModelSchema
  private let layout: RecordLayout

  init() throws {
    schema = try ModelSchema(
      name: "Everything",
      fields: [FieldSchema("id", .string), FieldSchema("a \"name\"", .int64)]
        + FieldKind.allCases.map { FieldSchema($0.rawValue, $0, isOptional: true) }, key: ["id"])
    layout = RecordLayout(schema)
  }

  private func scanned(_ text: [UInt8]) throws -> [PersistentValue]? {
    let row = RowBuffer(count: schema.fields.count)
    return RecordScanner.fill(row, from: text, by: layout) ? try row.withRow { try $0.values() } : nil
  }

  private func parsed(_ text: [UInt8]) throws -> [PersistentValue]? {
    let row = RowBuffer(count: schema.fields.count)
    do {
      try RecordText.fill(row, from: text, in: schema)
    } catch is PersistenceError {
      return nil
    }
    return try row.withRow { try $0.values() }
  }

  private func text(_ random: inout SeededGenerator) throws -> [UInt8] {
    func string() -> String {
      let choices = [
        "plain", "", "é", "quote \" here", "tab\t", "a longer text that fills more than sixteen bytes",
        "\u{0}", "😀",
      ]
      return (0..<Int.random(in: 0...3, using: &random)).map { _ in
        choices.randomElement(using: &random) ?? ""
      }.joined()
    }
    func number() -> Double {
      switch Int.random(in: 0...4, using: &random) {
      case 0: Double(bitPattern: random.next())
      case 1: Double(Int64.random(in: -1_000_000...1_000_000, using: &random))
      case 2: (Double.random(in: -1e6...1e6, using: &random) * 100).rounded() / 100
      case 3: Double.random(in: -1e9...1e9, using: &random)
      default:
        [0, -1, 0.1, 1e22, 1e23, 9_007_199_254_740_992, .nan, .infinity, 5e-7].randomElement(using: &random)
          ?? 0
      }
    }
    let values: [PersistentValue] = [.text(string()), .integer(Int64(bitPattern: random.next()))]
    let others = FieldKind.allCases.map { kind -> PersistentValue in
      if Int.random(in: 0...5, using: &random) == 0 { return .null }
      switch kind {
      case .bool: return .bool(Bool.random(using: &random))
      case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
        return .integer(Int64.random(in: kind.integerRange ?? 0...0, using: &random))
      case .float: return .double(Double(Float(number())))
      case .double: return .double(number())
      case .string, .url: return .text(string())
      case .data: return .bytes(Array(string().utf8))
      case .date: return .date(number())
      case .uuid: return .uuid(UUID(uuid: unsafeBitCast((random.next(), random.next()), to: uuid_t.self)))
      case .decimal: return .decimal(Decimal(Int64.random(in: -1000...1000, using: &random)) / 8)
      case .document:
        return .document(["{\"a\":[1,2.50]}", "null", "[]", "\"x\""].randomElement(using: &random) ?? "0")
      }
    }
    let row = RowBuffer(count: schema.fields.count)
    row.set(values + others)
    return try row.withRow { try RecordText.text(of: $0, in: schema) }
  }

  @Test("V2 the scanner reads canonical files, with the same values as the parser")
  func agree() throws {
    var random = SeededGenerator(seed: 3)
    var fast = 0
    for _ in 0..<3_000 {
      let text = try text(&random)
      let careful = try #require(try parsed(text))
      guard let scanned = try scanned(text) else { continue }
      fast += 1
      #expect(scanned == careful, "\(String(decoding: text, as: UTF8.self))")
    }
    // NaN and the infinities are left to the parser.
    #expect(fast > 1_500)
  }

  @Test("E5 the scanner reads changed bytes as the parser does, or gives up")
  func mutations() throws {
    var random = SeededGenerator(seed: 5)
    let pool = Array("0123456789-+.eE\"\\{}[],: \n\tnulltruefalse".utf8) + [0, 0x1F, 0x80, 0xC3, 0xA9, 0xFF]
    for _ in 0..<6_000 {
      var text = try text(&random)
      for _ in 0..<Int.random(in: 1...3, using: &random) where !text.isEmpty {
        let place = Int.random(in: 0..<text.count, using: &random)
        let byte = pool.randomElement(using: &random) ?? 0
        switch Int.random(in: 0...3, using: &random) {
        case 0: text[place] = byte
        case 1: text.insert(byte, at: place)
        case 2: text.remove(at: place)
        default: text.removeSubrange(place..<min(text.count, place + Int.random(in: 1...30, using: &random)))
        }
      }
      if let scanned = try scanned(text) {
        #expect(try parsed(text) == scanned, "\(String(decoding: text, as: UTF8.self))")
      }
    }
  }

  @Test(
    "V5 numbers at the limits of the scanner",
    arguments: [
      "0", "-0", "00", "01", "-", "1.", ".5", "1.5", "-1.5", "-0.5", "0.1", "9007199254740993",
      "9007199254740993.0",
      "90071992547409.925", "123456789012345678901234567890", "9223372036854775807", "9223372036854775808",
      "-9223372036854775808", "-9223372036854775809", "1e5", "1E-5", "1e400",
      "1.0000000000000000000000000000001", "1,5",
      "0.00000000000000000000001", "179769313486231570000000000000000000000.5", "1.5e", "1_000", "+1", "1 ",
    ])
  func numbers(number: String) throws {
    for kind in [FieldKind.double, .int64, .uint8, .float, .decimal] {
      let schema = try ModelSchema(
        name: "N", fields: [FieldSchema("id", .string), FieldSchema("n", kind)], key: ["id"])
      let text = Array("{\n  \"id\": \"x\",\n  \"n\": \(number)\n}\n".utf8)
      let row = RowBuffer(count: 2)
      guard RecordScanner.fill(row, from: text, by: RecordLayout(schema)) else { continue }
      let fast = try row.withRow { try $0.values() }
      try RecordText.fill(row, from: text, in: schema)
      #expect(try row.withRow { try $0.values() } == fast)
    }
  }
}
