import SwiftDiagnostics

extension DeclarationMistake {
  static func noKey(_ model: String) -> Self {
    Self("'\(model)' has no primary key: name a property 'id', or mark one with @ID")
  }

  static func computedKey(_ property: String) -> Self {
    Self("the primary key '\(property)' is computed; a key is a stored property")
  }

  static func staticKey(_ property: String) -> Self {
    Self("the primary key '\(property)' is static; a key is an instance property")
  }

  static func optionalKey(_ property: String) -> Self {
    Self("the primary key '\(property)' is optional; a key is never nil")
  }

  static func keyType(_ property: String, _ reason: String) -> Self {
    Self("'\(property)' cannot be the primary key: \(reason)")
  }

  static func redundantKeyIndex(_ marker: Marker, _ property: String) -> Self {
    Self(
      "\(marker.spelling) has no effect: '\(property)' is the primary key, which is unique and indexed",
      severity: .warning)
  }
}
