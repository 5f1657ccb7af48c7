/// Text searches by rule V7, as the simplest correct code.
enum TextOracle {
  /// Returns the scalars of a text, each mapped to lower case if case does not matter.
  static func scalars(_ text: String, caseInsensitive: Bool) -> [Unicode.Scalar] {
    text.unicodeScalars.flatMap { scalar in
      caseInsensitive ? Array(scalar.properties.lowercaseMapping.unicodeScalars) : [scalar]
    }
  }

  static func contains(_ text: String, _ needle: String, caseInsensitive: Bool) -> Bool {
    let (text, needle) = (
      scalars(text, caseInsensitive: caseInsensitive), scalars(needle, caseInsensitive: caseInsensitive)
    )
    guard text.count >= needle.count else { return false }
    return (0...(text.count - needle.count)).contains { Array(text[$0..<($0 + needle.count)]) == needle }
  }

  static func hasPrefix(_ text: String, _ needle: String, caseInsensitive: Bool) -> Bool {
    scalars(text, caseInsensitive: caseInsensitive).starts(
      with: scalars(needle, caseInsensitive: caseInsensitive))
  }

  static func hasSuffix(_ text: String, _ needle: String, caseInsensitive: Bool) -> Bool {
    scalars(text, caseInsensitive: caseInsensitive).reversed()
      .starts(with: scalars(needle, caseInsensitive: caseInsensitive).reversed())
  }

  /// Returns whether the whole text matches a pattern of `%`, `_` and `\`.
  static func like(_ text: String, _ pattern: String, caseInsensitive: Bool = false) -> Bool {
    like(
      ArraySlice(scalars(text, caseInsensitive: caseInsensitive)),
      ArraySlice(scalars(pattern, caseInsensitive: caseInsensitive)))
  }

  private static func like(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool
  {
    guard let first = pattern.first else { return text.isEmpty }
    switch first {
    case "%": return like(text, pattern.dropFirst()) || (!text.isEmpty && like(text.dropFirst(), pattern))
    case "_": return !text.isEmpty && like(text.dropFirst(), pattern.dropFirst())
    case "\\":
      let rest = pattern.dropFirst()
      return text.first == rest.first && like(text.dropFirst(), rest.dropFirst())
    default: return text.first == first && like(text.dropFirst(), pattern.dropFirst())
    }
  }
}
