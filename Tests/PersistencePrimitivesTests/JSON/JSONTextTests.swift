import Foundation
import PersistencePrimitives
import Testing

/// JSON text: parsing, syntax errors with their positions, and writing.
struct JSONTextTests {
  private func canonical(_ text: String) throws -> String { JSONText.canonical(try JSONParser.parse(text)) }

  @Test(
    "V5 V2 canonical text keeps every digit and scalar",
    arguments: [
      (
        #" { "b" : [ 1 , 2.50 , -0 , 9007199254740993 , 1E+400 ] , "a" : null } "#,
        #"{"a":null,"b":[1,2.50,-0,9007199254740993,1E+400]}"#
      ),
      (#""\u0000\u001f\b\f\n\r\t\/\\\"é\u00e9\ud83d\ude00""#, #""\u0000\u001f\b\f\n\r\t/\\\"éé😀""#),
      ("{\"é\":1,\"e\u{301}\":2,\"z\":true,\"\":false}", "{\"\":false,\"e\u{301}\":2,\"z\":true,\"é\":1}"),
      ("\u{FEFF}[]", "[]"), ("{}", "{}"), ("\"\u{7F}\u{2028}\"", "\"\u{7F}\u{2028}\""),
    ])
  func canonicalText(text: String, expected: String) throws {
    #expect(try Array(canonical(text).utf8) == Array(expected.utf8))
    #expect(try canonical(canonical(text)) == canonical(text))
  }

  @Test(
    "E5 malformed text is rejected with its line and column",
    arguments: [
      ("", 1, 1), ("{", 1, 2), ("[1,]", 1, 4), ("{\"a\":1,\n \"a\":2}", 2, 2), ("[01]", 1, 3), ("[1.]", 1, 4),
      ("[+1]", 1, 2), ("nul", 1, 1), ("\"\\x\"", 1, 2), ("\"\\ud800\"", 1, 2), ("\"\\udc00\"", 1, 2),
      ("\"a\nb\"", 1, 3), ("\"abc", 1, 1), ("1 2", 1, 3), ("{\"a\" 1}", 1, 6), ("[NaN]", 1, 2),
      ("{a:1}", 1, 2),
      ("[1\n,\n  x]", 3, 3), ("'a'", 1, 1), ("[1e]", 1, 4), ("\"\\u12g4\"", 1, 4),
    ])
  func malformed(text: String, line: Int, column: Int) throws {
    let error = try #require(throws: JSONSyntaxError.self) { try JSONParser.parse(text) }
    #expect(error.line == line)
    #expect(error.column == column)
  }

  @Test("E5 V3 a name that occurs twice is rejected at its second place, in small objects and in large ones")
  func repeatedNames() throws {
    for count in 1...40 {
      let members = (0..<count).map { "\"m\($0)\":\($0)" } + ["\"é\":1", "\"e\u{301}\":2"]
      let start = "{" + members.joined(separator: ",")
      #expect(try canonical(start + "}").utf8.count == start.utf8.count + 1)
      for repeated in ["m0", "m\(count / 2)", "m\(count - 1)", "é", "e\u{301}"] {
        let error = try #require(throws: JSONSyntaxError.self) {
          try JSONParser.parse(start + ",\"\(repeated)\":0}")
        }
        #expect(error.column == start.utf8.count + 2, "\(repeated) after \(count) members")
      }
    }
  }

  @Test("E5 text that is not UTF-8 is rejected")
  func invalidText() {
    for bytes: [UInt8] in [
      [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xE2, 0x82, 0x22],
    ] {
      #expect(throws: JSONSyntaxError.self) { try bytes.withUnsafeBytes { try JSONParser.parse($0) } }
    }
  }

  @Test("E5 hostile nesting is rejected before the stack overflows")
  func nesting() throws {
    let deep = String(repeating: "[", count: 100_000)
    #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(deep) }
    let fine = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
    #expect(try canonical(fine) == fine)
  }

  @Test("E5 what contains documents may be nested a little deeper than a document")
  func envelopes() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    let limit = JSONParser.depthLimit
    #expect(try JSONParser.parse(nested(limit)).isWithinDepthLimit)
    #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(nested(limit + 1)) }
    #expect(try !JSONParser.parse(nested(limit + 1), of: .envelope).isWithinDepthLimit)
    let object = String(repeating: #"{"a":"#, count: limit) + "1" + String(repeating: "}", count: limit)
    #expect(try JSONParser.parse(object, of: .envelope).isWithinDepthLimit)
    #expect(try !JSONParser.parse("[\(object)]", of: .envelope).isWithinDepthLimit)
    #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(nested(limit + 17), of: .envelope) }
  }

  @Test("pretty text has one member per line, sorted by bytes")
  func pretty() throws {
    let value = try JSONParser.parse(#"{"title":"x","cast":["a","b"],"empty":[],"nested":{"b":1,"a":{}}}"#)
    #expect(
      String(decoding: JSONText.pretty(value), as: UTF8.self) == """
        {
          "cast": [
            "a",
            "b"
          ],
          "empty": [],
          "nested": {
            "a": {},
            "b": 1
          },
          "title": "x"
        }

        """)
  }

  @Test("V3 the characters that need an escape get it, at every place of short and long texts")
  func escapes() {
    let short: [UInt8: String] = [
      8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: "\\\"", 92: "\\\\",
    ]
    for byte: UInt8 in 0..<128 {
      let character = String(Unicode.Scalar(byte))
      let code = "\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      let escaped = short[byte] ?? (byte < 32 ? code : character)
      for length in [1, 2, 7, 8, 9, 15, 16, 17, 24] {
        for place in 0..<length {
          for (fill, other) in [("x", "x"), ("x", "é"), ("é", "x")] {
            let before = String(repeating: fill, count: place)
            let after = String(repeating: other, count: length - place - 1)
            let text = JSONText.canonical(.string(before + character + after))
            guard !text.utf8.elementsEqual("\"\(before)\(escaped)\(after)\"".utf8) else { continue }
            Issue.record("\(byte) at \(place) of \(length)")
          }
        }
      }
    }
  }

  @Test("V2 doubles are written shortest and read back to the bit")
  func doubles() throws {
    var bits: UInt64 = 42
    var numbers: [Double] = [
      0, 1, -1, 0.1, 1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 1e16, 123456789012345680,
    ]
    for _ in 0..<2_000 {
      // Knuth's MMIX generator, with a fixed seed.
      bits = bits &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      numbers.append(Double(bitPattern: bits))
    }
    for number in numbers where number.isFinite {
      let text = "\(number)"
      #expect(try canonical(text) == text)
      #expect(Double(text) == number, "\(number)")
    }
  }

  @Test("arrays and lines are read one element at a time, and errors have a position")
  func elements() throws {
    func read(_ text: String) throws -> [String] {
      var text = text
      return try text.withUTF8 { bytes in
        var elements = JSONElements(UnsafeRawBufferPointer(bytes))
        var found: [String] = []
        while let value = try elements.next() { found.append(JSONText.canonical(value)) }
        #expect(elements.count == found.count)
        return found
      }
    }
    #expect(try read(" [1, {\"a\":2}, [3]] ") == ["1", "{\"a\":2}", "[3]"])
    #expect(try read("{\"a\":1}\n\n{\"a\":2}\n") == ["{\"a\":1}", "{\"a\":2}"])
    #expect(try read("") == [] && read("[]") == [])
    for text in ["[1 2]", "[1,", "[1]x", "[,1]", "{}\n{"] {
      #expect(throws: JSONSyntaxError.self, "\(text)") { try read(text) }
    }
  }
}
