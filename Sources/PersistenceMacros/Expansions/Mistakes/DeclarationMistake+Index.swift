import SwiftDiagnostics

extension DeclarationMistake {
  static var emptyIndex: Self { Self("an index needs at least one property") }

  static var indexNotLiteral: Self {
    Self(
      #"the macro reads the properties of an index from source: write an array of key paths, such as [\.a, \.b]"#
    )
  }

  static var uniquenessNotLiteral: Self {
    Self("the macro reads the uniqueness of an index from source: write true or false")
  }

  static func indexRoot(_ root: String, _ model: String) -> Self {
    Self("an index in '\(model)' must use key paths of '\(model)', not of '\(root)'")
  }

  static func indexedUnknown(_ property: String, _ model: String) -> Self {
    Self("'\(property)' is not a stored property of '\(model)', so it cannot be indexed")
  }

  static func indexedPath(_ path: String) -> Self {
    Self("an index contains whole stored properties, not parts of one: '\(path)'")
  }

  static func indexedTwice(_ property: String) -> Self {
    Self("'\(property)' is already in this index")
  }

  static func indexedDocument(_ property: String, _ type: String) -> Self {
    Self(
      "'\(property)' is stored as a document, since it is a '\(type)'; documents have no order and cannot "
        + "be indexed")
  }

  static var repeatedIndex: Self {
    Self("an index over the same properties is already declared", severity: .warning)
  }
}
