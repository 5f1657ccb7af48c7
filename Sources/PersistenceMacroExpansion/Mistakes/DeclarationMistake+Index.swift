import SwiftDiagnostics

extension DeclarationMistake {
  static let emptyIndex = Self("emptyIndex", "an index needs at least one property")

  static let indexNotLiteral = Self(
    "indexNotLiteral",
    "the properties of an index are read when the macro runs: write them as an array of key paths, "
      + #"such as [\.a, \.b]"#)

  static let uniquenessNotLiteral = Self(
    "uniquenessNotLiteral", "whether an index is unique is read when the macro runs: write true or false")

  static func indexRoot(_ root: String, _ model: String) -> Self {
    Self("indexRoot", "an index inside of '\(model)' is over properties of '\(model)', not of '\(root)'")
  }

  static func indexedUnknown(_ property: String, _ model: String) -> Self {
    Self("indexedUnknown", "'\(property)' is no stored property of '\(model)', so no index can be over it")
  }

  static func indexedPath(_ path: String) -> Self {
    Self("indexedPath", "an index is over whole stored properties, not over what is inside of one: '\(path)'")
  }

  static func indexedTwice(_ property: String) -> Self {
    Self("indexedTwice", "'\(property)' is in this index already")
  }

  static func indexedDocument(_ property: String, _ type: String) -> Self {
    Self(
      "indexedDocument",
      "'\(property)' is stored as a document, since it is a '\(type)'; documents have no order to index")
  }

  static let repeatedIndex = Self(
    "repeatedIndex", "an index over the same properties is declared already", severity: .warning)
}
