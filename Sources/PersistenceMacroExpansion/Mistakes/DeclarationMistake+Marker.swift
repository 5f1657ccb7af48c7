extension DeclarationMistake {
  static func markerOnNoProperty(_ marker: Marker) -> Self {
    Self("markerOnNoProperty", "\(marker.spelling) belongs on a stored property")
  }

  static func markerOnComputed(_ marker: Marker, _ property: String) -> Self {
    Self(
      "markerOnComputed",
      "\(marker.spelling) belongs on a stored property; '\(property)' is computed and never stored")
  }

  static func markerOnStatic(_ marker: Marker, _ property: String) -> Self {
    Self(
      "markerOnStatic",
      "\(marker.spelling) belongs on a stored property; '\(property)' is static and never stored")
  }

  static func markerOnTransient(_ marker: Marker, _ property: String) -> Self {
    Self(
      "markerOnTransient",
      "\(marker.spelling) contradicts @Transient: '\(property)' is not in the store")
  }

  static func repeatedMarker(_ marker: Marker, _ property: String) -> Self {
    Self("repeatedMarker", "'\(property)' is marked \(marker.spelling) already")
  }

  static func repeatedStoredName(_ stored: String, _ property: String, _ other: String) -> Self {
    Self(
      "repeatedStoredName",
      "'\(property)' and '\(other)' are both stored as \"\(stored)\"; give one of them another @Field name")
  }

  static let emptyFieldName = Self("emptyFieldName", "a stored name cannot be empty")

  static let fieldNameNotLiteral = Self(
    "fieldNameNotLiteral",
    "the macro reads the stored name from source: write one string literal without "
      + "escapes")
}
