import PersistenceConformance
import PersistencePrimitives

extension SeededGenerator {
  /// A text of at most `longest` scalars out of `alphabet`.
  mutating func text(of alphabet: [Unicode.Scalar], longest: Int) -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...longest, using: &self) {
      text.append(alphabet[Int.random(in: alphabet.indices, using: &self)])
    }
    return String(text)
  }
}

extension String {
  /// Passes the text's bytes at an odd address between other bytes, as in an engine's page.
  func withUnalignedUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
    let page = [0x61] + Array(utf8) + [0x62]
    return try page.withUnsafeBufferPointer { page in
      try body(UnsafeBufferPointer(rebasing: page[1..<(page.count - 1)]))
    }
  }

  /// The concatenated lower-case mappings of the scalars, computed without ``CaseFolding``.
  var foldedScalars: [Unicode.Scalar] {
    unicodeScalars.flatMap { $0.properties.lowercaseMapping.unicodeScalars }
  }
}

/// Whether a text contains a match of a regular expression.
func isFound(_ pattern: String, in text: String, caseInsensitive: Bool = false) throws -> Bool {
  let expression = try RegularExpressionPattern(pattern, caseInsensitive: caseInsensitive)
  return try text.withUnalignedUTF8(expression.matches)
}

/// Whether a text matches a `like` pattern.
func isLike(_ pattern: String, _ text: String, caseInsensitive: Bool = false) throws -> Bool {
  let like = try LikePattern(pattern, caseInsensitive: caseInsensitive)
  return text.withUnalignedUTF8(like.matches)
}
