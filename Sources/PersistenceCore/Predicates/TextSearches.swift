public import Foundation
public import PersistenceDriver

/// A property type whose text can be searched: `String`, `URL`, and optionals of them.
public protocol PersistentText: PersistentValueConvertible {}

extension String: PersistentText {}
extension URL: PersistentText {}
extension Optional: PersistentText where Wrapped: PersistentText {}

// Searches compare scalars, not grapheme clusters, and are false if the property is nil (contract V7). The
// case-insensitive forms compare the lower-case mapping of each scalar, independent of the locale.
extension PersistentPredicate where Model: PersistentFields {
  /// The property's text contains a text.
  ///
  /// - Parameters:
  ///   - property: A text property.
  ///   - needle: The literal text to search for; every text contains the empty text.
  ///   - caseInsensitive: Whether to compare lower-case mappings.
  /// - Returns: The condition.
  public static func contains<Value: PersistentText>(
    _ property: KeyPath<Model, Value>, _ needle: String, caseInsensitive: Bool = false
  ) -> PersistentPredicate {
    searching(property, .contains, needle, caseInsensitive)
  }

  /// The property's text begins with a text.
  ///
  /// - Parameters:
  ///   - property: A text property.
  ///   - needle: The literal text to search for; every text contains the empty text.
  ///   - caseInsensitive: Whether to compare lower-case mappings.
  /// - Returns: The condition.
  public static func hasPrefix<Value: PersistentText>(
    _ property: KeyPath<Model, Value>, _ needle: String, caseInsensitive: Bool = false
  ) -> PersistentPredicate {
    searching(property, .hasPrefix, needle, caseInsensitive)
  }

  /// The property's text ends with a text.
  ///
  /// - Parameters:
  ///   - property: A text property.
  ///   - needle: The literal text to search for; every text contains the empty text.
  ///   - caseInsensitive: Whether to compare lower-case mappings.
  /// - Returns: The condition.
  public static func hasSuffix<Value: PersistentText>(
    _ property: KeyPath<Model, Value>, _ needle: String, caseInsensitive: Bool = false
  ) -> PersistentPredicate {
    searching(property, .hasSuffix, needle, caseInsensitive)
  }

  /// The property's text matches a pattern: `%` matches any run of scalars, `_` matches one, and `\` escapes
  /// the next scalar.
  ///
  /// - Parameters:
  ///   - property: A text property.
  ///   - pattern: The pattern; a malformed one makes the fetch throw.
  ///   - caseInsensitive: Whether to compare lower-case mappings.
  /// - Returns: The condition.
  public static func like<Value: PersistentText>(
    _ property: KeyPath<Model, Value>, _ pattern: String, caseInsensitive: Bool = false
  ) -> PersistentPredicate {
    searching(property, .like, pattern, caseInsensitive)
  }

  /// The property's text contains a match of a regular expression, in the documented syntax.
  ///
  /// - Parameters:
  ///   - property: A text property.
  ///   - pattern: The pattern; a malformed one makes the fetch throw.
  ///   - caseInsensitive: Whether to compare lower-case mappings.
  /// - Returns: The condition.
  public static func matches<Value: PersistentText>(
    _ property: KeyPath<Model, Value>, _ pattern: String, caseInsensitive: Bool = false
  ) -> PersistentPredicate {
    searching(property, .matches, pattern, caseInsensitive)
  }
}
