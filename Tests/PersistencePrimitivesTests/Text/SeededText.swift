@testable import PersistencePrimitives

/// Random texts that are the same on every run (SplitMix64).
struct SeededText: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

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
  /// Lends the text's bytes at an odd address, with other bytes around them, as an engine's page would.
  func lendUnaligned<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
    let page = [0x61] + Array(utf8) + [0x62]
    return try page.withUnsafeBufferPointer { page in
      try body(UnsafeBufferPointer(rebasing: page[1..<(page.count - 1)]))
    }
  }

  /// The scalars' own lower-case mappings one after the other, worked out without ``CaseFolding``.
  var foldedScalars: [Unicode.Scalar] {
    unicodeScalars.flatMap { $0.properties.lowercaseMapping.unicodeScalars }
  }
}

/// Whether a regular expression is found in a text.
func isFound(_ pattern: String, in text: String, caseInsensitive: Bool = false) throws -> Bool {
  let expression = try RegularExpressionPattern(pattern, caseInsensitive: caseInsensitive)
  return try text.lendUnaligned(expression.matches)
}

/// Whether a text has the form of a `like` pattern.
func isLike(_ pattern: String, _ text: String, caseInsensitive: Bool = false) throws -> Bool {
  let like = try LikePattern(pattern, caseInsensitive: caseInsensitive)
  return text.lendUnaligned(like.matches)
}
