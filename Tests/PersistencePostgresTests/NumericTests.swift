#if Postgres
  import Foundation
  import PersistenceDriver
  import Testing

  @testable import PersistencePostgres

  /// The binary format of decimals.
  @Suite struct NumericTests {
    /// A number as the server sends it: digits of base 10,000, the weight of the first, and the sign.
    private func text(_ digits: [UInt16], weight: Int16, sign: UInt16 = 0) -> String? {
      var bytes: [UInt8] = []
      for word in [UInt16(digits.count), UInt16(bitPattern: weight), sign, 0] + digits {
        withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
      }
      let text = bytes.withUnsafeBytes { PostgresNumeric.canonicalText($0) }
      return text.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("V2 V5 decimals are read with all digits, as canonical text")
    func numbers() {
      #expect(text([], weight: 0) == "0")
      #expect(text([1], weight: 0) == "1")
      #expect(text([12, 3456], weight: 1) == "123456")
      #expect(text([1], weight: 2) == "100000000")
      #expect(text([1, 5000], weight: 0) == "1.5")
      #expect(text([1200], weight: -1) == "0.12")
      #expect(text([12], weight: -2) == "0.00000012")
      #expect(text([7, 1, 10], weight: 1, sign: 0x4000) == "-70001.001")
      #expect(text([], weight: 0, sign: 0xC000) == "NaN")
    }

    @Test("E5 malformed numbers and infinities are none")
    func malformed() {
      #expect(text([], weight: 0, sign: 0xD000) == nil)
      let short: [UInt8] = [0, 1, 0, 0]
      #expect(short.withUnsafeBytes { PostgresNumeric.canonicalText($0) } == nil)
    }
  }
#endif
