import Testing

@testable import PersistenceTool

@Suite("CSV by RFC 4180")
struct DelimitedReaderTests {
  private typealias Field = DelimitedReader.Field

  private func records(_ text: String) throws -> [DelimitedReader.Record] {
    var text = text
    return try text.withUTF8 { bytes in
      var reader = DelimitedReader(UnsafeRawBufferPointer(bytes))
      var records: [DelimitedReader.Record] = []
      while let record = try reader.next() { records.append(record) }
      return records
    }
  }

  private func texts(_ text: String) throws -> [[String]] {
    try records(text).map { try $0.fields.get().map { ($0.isQuoted ? "'" : "") + $0.text } }
  }

  @Test("Reads fields with quotation marks, separators and line breaks")
  func fields() throws {
    #expect(try texts("a,b\r\nc,d\r\n") == [["a", "b"], ["c", "d"]])
    #expect(try texts("a,b\nc,d") == [["a", "b"], ["c", "d"]])
    #expect(try texts("\"a,\"\"b\"\"\",\"c\r\nd\"\n,\"\"") == [["'a,\"b\"", "'c\r\nd"], ["", "'"]])
    #expect(try texts("a\"b, c ,") == [["a\"b", " c ", ""]])
    #expect(try texts("") == [])
    #expect(try texts("\n") == [[""]])
    #expect(try texts("\u{FEFF}a\n") == [["a"]])
    #expect(try texts("a\rb\r") == [["a\rb"]])
    #expect(try texts("é,\"\0😀\"\n") == [["é", "'\0😀"]])
  }

  @Test("Counts lines across quoted line breaks")
  func lines() throws {
    #expect(try records("a\n\"b\n\nc\"\nd\n").map(\.line) == [1, 2, 5])
  }

  @Test("A malformed field rejects its record; an open quotation mark ends the file")
  func malformed() throws {
    let found = try records("a\n\"b\"x,c\nd\n")
    #expect(found.map { (try? $0.fields.get()) == nil } == [false, true, false])
    #expect(throws: DelimitedReader.OpenQuotation(line: 2)) { try records("a\n\"b\nc") }
  }

  @Test("Invalid UTF-8 rejects its record")
  func invalid() throws {
    let bytes: [UInt8] = Array("a\n".utf8) + [0xFF, 0x0A] + Array("b\n".utf8)
    try bytes.withUnsafeBytes { bytes in
      var reader = DelimitedReader(bytes)
      var failures: [Bool] = []
      while let record = try reader.next() { failures.append((try? record.fields.get()) == nil) }
      #expect(failures == [false, true, false])
    }
  }

  @Test("V2 Reads back what the writer wrote, including nil and empty text")
  func roundTrip() throws {
    let alphabet: [Character] = [
      "a", ",", "\"", "\n", "\r", "\r\n", " ", "\0", "é", "😀", "\u{FEFF}", "\t", "'",
    ]
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      let rows = (0..<Int.random(in: 1...4, using: &random)).map { _ in
        (0..<3).map { _ -> String? in
          let length = Int.random(in: 0...5, using: &random)
          return length == 0 && Bool.random(using: &random)
            ? nil : String((0..<length).map { _ in alphabet.randomElement(using: &random) ?? "a" })
        }
      }
      let text = "x,y,z\r\n" + rows.map(DelimitedText.line).joined()
      let read = try records(text).dropFirst().map { record in
        try record.fields.get().map { $0.text.isEmpty && !$0.isQuoted ? nil : $0.text }
      }
      let same =
        read.count == rows.count
        && zip(read, rows).allSatisfy { left, right in
          zip(left, right).allSatisfy {
            $0.map { Array($0.unicodeScalars) } == $1.map { Array($0.unicodeScalars) }
          }
        }
      #expect(same, "\(text.debugDescription)")
    }
  }
}
