public import Foundation
public import PersistenceDriver

/// A property type whose text can be searched: `String`, `URL`, and optionals of them.
public protocol PersistentText: PersistentValueConvertible {}

extension String: PersistentText {}
extension URL: PersistentText {}
extension Optional: PersistentText where Wrapped: PersistentText {}

// Searches compare scalars, not grapheme clusters, and are false where the property is nil (contract V7). The
// case-insensitive forms compare each scalar's own lower-case mapping, free of locale.
extension PersistentPredicate where Model: PersistentFields {
  /// The property's text holds the needle.
  ///
  /// - Parameters:
  ///   - property: A text property.
  ///   - needle: What to look for, literally; the empty text is in every text.
  ///   - caseInsensitive: Whether lower-case mappings are compared.
  /// - Returns: The condition.
  public static func contains<Value: PersistentText>(
    _ property: SendableKeyPath<Model, Value>, _ needle: String, caseInsensitive: Bool = false
  ) -> PersistentPredicate {
    PersistentPredicate(
      node: .text(field: Model.name(of: property), .contains, needle, isCaseInsensitive: caseInsensitive))
  }

  /// The property's text begins with the needle.
  ///
  /// - Parameters:
  ///   - property: A text property.
  ///   - needle: What to look for, literally; the empty text is in every text.
  ///   - caseInsensitive: Whether lower-case mappings are compared.
  /// - Returns: The condition.
  public static func hasPrefix<Value: PersistentText>(
    _ property: SendableKeyPath<Model, Value>, _ needle: String, caseInsensitive: Bool = false
  ) -> PersistentPredicate {
    PersistentPredicate(
      node: .text(field: Model.name(of: property), .hasPrefix, needle, isCaseInsensitive: caseInsensitive))
  }

  /// The property's text ends with the needle.
  ///
  /// - Parameters:
  ///   - property: A text property.
  ///   - needle: What to look for, literally; the empty text is in every text.
  ///   - caseInsensitive: Whether lower-case mappings are compared.
  /// - Returns: The condition.
  public static func hasSuffix<Value: PersistentText>(
    _ property: SendableKeyPath<Model, Value>, _ needle: String, caseInsensitive: Bool = false
  ) -> PersistentPredicate {
    PersistentPredicate(
      node: .text(field: Model.name(of: property), .hasSuffix, needle, isCaseInsensitive: caseInsensitive))
  }

  /// The property's text fits a pattern: `%` stands for any run of scalars, `_` for one, and `\` takes the next scalar literally.
  ///
  /// - Parameters:
  ///   - property: A text property.
  ///   - pattern: What to look for; a malformed pattern makes the fetch throw.
  ///   - caseInsensitive: Whether lower-case mappings are compared.
  /// - Returns: The condition.
  public static func like<Value: PersistentText>(
    _ property: SendableKeyPath<Model, Value>, _ pattern: String, caseInsensitive: Bool = false
  ) -> PersistentPredicate {
    PersistentPredicate(
      node: .text(field: Model.name(of: property), .like, pattern, isCaseInsensitive: caseInsensitive))
  }

  /// The property's text holds a match of a regular expression, in the syntax that the documentation names.
  ///
  /// - Parameters:
  ///   - property: A text property.
  ///   - pattern: What to look for; a malformed pattern makes the fetch throw.
  ///   - caseInsensitive: Whether lower-case mappings are compared.
  /// - Returns: The condition.
  public static func matches<Value: PersistentText>(
    _ property: SendableKeyPath<Model, Value>, _ pattern: String, caseInsensitive: Bool = false
  ) -> PersistentPredicate {
    PersistentPredicate(
      node: .text(field: Model.name(of: property), .matches, pattern, isCaseInsensitive: caseInsensitive))
  }
}
