#if Postgres
  import Testing

  @testable import PersistencePostgres

  /// Text as PostgreSQL stores it.
  @Suite struct TextTests {
    @Test(
      "V2 V3 text with U+0000 and U+0001 is stored with escapes that keep its order",
      arguments: ["", "a", "\0", "\u{1}", "\0\u{1}\u{2}", "a\0b", "12345678\u{1}", "é\0", "\u{10FFFF}\u{1}"])
    func escapes(_ text: String) throws {
      let stored = PostgresText.escaped(text)
      #expect(!stored.utf8.contains(0))
      let bytes = Array(stored.utf8)
      let read = bytes.withUnsafeBytes { PostgresText.unescaped($0) }
      #expect(read == Array(text.utf8))
      let count = Array(text.utf8).withUnsafeBytes { PostgresText.storedCount(of: $0) }
      #expect(count == bytes.count)
    }

    @Test("V3 the order of stored texts is that of the texts")
    func order() {
      let alphabet: [Unicode.Scalar] = ["\0", "\u{1}", "\u{2}", "a", "é"]
      var texts = [""]
      for _ in 0..<3 {
        texts += texts.flatMap { text in
          alphabet.map { scalar in
            var longer = text.unicodeScalars
            longer.append(scalar)
            return String(longer)
          }
        }
      }
      for left in texts {
        for right in texts {
          let plain = left.utf8.lexicographicallyPrecedes(right.utf8)
          let stored = PostgresText.escaped(left).utf8.lexicographicallyPrecedes(
            PostgresText.escaped(right).utf8)
          #expect(plain == stored, "\(Array(left.utf8)) and \(Array(right.utf8))")
        }
      }
    }
  }
#endif
