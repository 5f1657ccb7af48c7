/// A search in the text of a field (contract V7); every one is false where the field is nil.
public enum TextOperator: String, Sendable, Hashable, Codable, CaseIterable {
  /// The text holds the needle, literally.
  case contains
  /// The text begins with the needle, literally.
  case hasPrefix
  /// The text ends with the needle, literally.
  case hasSuffix
  /// The whole text fits a pattern: `%` is any run of scalars, `_` one scalar, `\` takes the next one literally.
  case like
  /// A regular expression, in the syntax that the documentation of text search names, is found in the text.
  case matches
}
