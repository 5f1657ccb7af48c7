extension DeclarationMistake {
  static func markerOnNoProperty(_ marker: Marker) -> Self {
    Self("\(marker.spelling) belongs on a stored property")
  }

  static func markerOnComputed(_ marker: Marker, _ property: String) -> Self {
    Self("\(marker.spelling) belongs on a stored property; '\(property)' is computed and never stored")
  }

  static func markerOnStatic(_ marker: Marker, _ property: String) -> Self {
    Self("\(marker.spelling) belongs on a stored property; '\(property)' is static and never stored")
  }

  static func markerOnTransient(_ marker: Marker, _ property: String) -> Self {
    Self("\(marker.spelling) contradicts @Transient: '\(property)' is not in the store")
  }

  static func repeatedMarker(_ marker: Marker, _ property: String) -> Self {
    Self("'\(property)' is marked \(marker.spelling) already")
  }

  static func ruleOnNoReference(_ property: String) -> Self {
    Self("@OnDelete belongs on a reference; '\(property)' is none: give it the type Reference<Model>")
  }

  static func ruleOnRequired(_ property: String) -> Self {
    Self("'\(property)' cannot become nil when its target is deleted; make it optional, or use another rule")
  }

  static func repeatedStoredName(_ stored: String, _ property: String, _ other: String) -> Self {
    Self(
      "'\(property)' and '\(other)' are both stored as \"\(stored)\"; give one of them another @Field name")
  }

  static var emptyFieldName: Self { Self("a stored name cannot be empty") }

  static var fieldNameNotLiteral: Self {
    Self("the macro reads the stored name from source: write one string literal without escapes")
  }
}
