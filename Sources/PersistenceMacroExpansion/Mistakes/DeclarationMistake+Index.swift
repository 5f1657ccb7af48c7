import SwiftDiagnostics

extension DeclarationMistake {
  static let emptyIndex = Self("emptyIndex", "an index needs at least one property")

  static let indexNotLiteral = Self(
    "indexNotLiteral",
    "the macro reads the properties of an index from source: write an array of key paths, "
      + #"such as [\.a, \.b]"#)

  static let uniquenessNotLiteral = Self(
    "uniquenessNotLiteral", "the macro reads the uniqueness of an index from source: write true or false")

  static func indexRoot(_ root: String, _ model: String) -> Self {
    Self("indexRoot", "an index in '\(model)' must use key paths of '\(model)', not of '\(root)'")
  }

  static func indexedUnknown(_ property: String, _ model: String) -> Self {
    Self("indexedUnknown", "'\(property)' is not a stored property of '\(model)', so it cannot be indexed")
  }

  static func indexedPath(_ path: String) -> Self {
    Self("indexedPath", "an index contains whole stored properties, not parts of one: '\(path)'")
  }

  static func indexedTwice(_ property: String) -> Self {
    Self("indexedTwice", "'\(property)' is already in this index")
  }

  static func indexedDocument(_ property: String, _ type: String) -> Self {
    Self(
      "indexedDocument",
      "'\(property)' is stored as a document, since it is a '\(type)'; documents have no order and cannot be indexed"
    )
  }

  static let repeatedIndex = Self(
    "repeatedIndex", "an index over the same properties is already declared", severity: .warning)
}
