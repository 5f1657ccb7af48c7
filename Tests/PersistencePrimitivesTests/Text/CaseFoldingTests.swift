import Testing

@testable import PersistencePrimitives

@Suite("Case folding")
struct CaseFoldingTests {
  @Test(
    "V7 each scalar is replaced by its own lower-case mapping",
    arguments: [
      ("", ""), ("ABCxyz@[`{09", "abcxyz@[`{09"), ("THE QUICK BROWN FOX", "the quick brown fox"),
      ("Straße", "straße"), ("ẞ", "ß"), ("ÄÖÜ", "äöü"), ("E\u{301}", "e\u{301}"), ("ΑΣ", "ασ"),
      ("ς", "ς"), ("I", "i"), ("ı", "ı"), ("İ", "i\u{307}"), ("Ꭰ", "\u{AB70}"), ("ꭰ", "\u{AB70}"),
      ("\u{10400}", "\u{10428}"), ("\u{212A}", "k"), ("\u{2126}", "ω"), ("Ⱥ", "\u{2C65}"), ("😀", "😀"),
      ("A\0B", "a\0b"), ("千と千尋", "千と千尋"), ("ǅ", "ǆ"), ("СТАЛКЕР", "сталкер"),
    ])
  func mapping(text: String, expected: String) {
    #expect(Array(CaseFolding.lowercased(text).utf8) == Array(expected.utf8))
  }

  @Test("V7 the mapping of every scalar is the standard library's")
  func everyScalar() {
    var differing: [UInt32] = []
    var beyondPairs: [UInt32] = []
    for value in UInt32(0)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let mapping = scalar.properties.lowercaseMapping.unicodeScalars
      let expected = mapping.count == 1 ? mapping.first?.value : CaseFolding.expands
      if CaseFolding.lowercased(scalar: value) != expected { differing.append(value) }
      if value >= 0x20000, expected != value { beyondPairs.append(value) }
    }
    #expect(differing.isEmpty)
    #expect(beyondPairs.isEmpty, "planes that `pairs` skips")
  }

  @Test("V7 long texts fold like short ones, with any chunk boundary")
  func chunks() {
    let piece = "Aé\u{130}Ⱥ中\u{10400}z"
    for lead in 0..<13 {
      let text = String(repeating: "X", count: lead) + String(repeating: piece, count: 400)
      let expected = text.foldedScalars.flatMap { Array(String($0).utf8) }
      var output: [UInt8] = [1, 2, 3]
      text.withUnalignedUTF8 { CaseFolding.lowercased($0, into: &output) }
      #expect(output == expected)
      #expect(text.withUnalignedUTF8 { CaseFolding.withLowercased($0, Array.init) } == expected)
    }
  }

  @Test("V7 text that grows more than expected is folded completely")
  func growth() {
    let text = String(repeating: "\u{130}", count: 1000)
    let expected = String(repeating: "i\u{307}", count: 1000)
    #expect(text.withUnalignedUTF8 { CaseFolding.withLowercased($0, Array.init) } == Array(expected.utf8))
  }

  @Test("V7 lower-casing is idempotent, as case-insensitive classes require")
  func idempotence() {
    #expect(CaseFolding.pairs.filter { CaseFolding.lowercased(scalar: $0.lower) != $0.lower }.isEmpty)
  }

  @Test("V7 the mapping's version is recorded")
  func version() throws {
    let parts = CaseFolding.unicodeVersion.split(separator: ".").compactMap { Int($0) }
    #expect(parts.count == 2)
    #expect(try #require(parts.first) >= 14)
    #expect(CaseFolding.mappingFingerprint != 0xCBF2_9CE4_8422_2325)
    if CaseFolding.unicodeVersion == "17.0" {
      // Stores keep it with their indexes, so its computation must never change.
      #expect(CaseFolding.mappingFingerprint == 15_439_461_579_797_919_700)
    }
  }

  @Test("V7 invalid UTF-8 causes no read beyond its end")
  func malformed() {
    for lead: UInt8 in [0x80, 0xC3, 0xE4, 0xF0, 0xFF] {
      let bytes: [UInt8] = [0x41, lead]
      var output: [UInt8] = []
      bytes.withUnsafeBufferPointer { CaseFolding.lowercased($0, into: &output) }
      #expect(output.first == 0x61)
      bytes.withUnsafeBufferPointer { bytes in
        #expect(!TextNeedle("b", caseInsensitive: true).isContained(in: bytes))
        #expect(!TextNeedle("b", caseInsensitive: true).isSuffix(of: bytes))
      }
    }
  }
}
