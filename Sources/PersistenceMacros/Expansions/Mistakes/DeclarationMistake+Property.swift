extension DeclarationMistake {
  static func needsType(_ property: String) -> Self {
    Self("the source of '\(property)' does not show its type; add a type annotation")
  }

  static func constant(_ property: String) -> Self {
    Self(
      "'\(property)' is a constant with a value, so a stored value could not be read back; make it a "
        + "variable, or mark it @Transient")
  }

  static func metatypeName(_ property: String) -> Self {
    Self(
      #"'\#(property)' cannot name a stored property, because Swift reads \.\#(property) as a type; choose another name, "#
        + #"and keep the stored name with @Field("\#(property)")"#)
  }

  static func unsigned(_ property: String, _ type: String) -> Self {
    Self("'\(property)' cannot be stored: values of \(type) do not fit in the 64 signed bits of a store")
  }

  static func nestedOptional(_ property: String) -> Self {
    Self("'\(property)' cannot be stored: a stored nil of a nested optional would be ambiguous")
  }

  static func unstorable(_ property: String, _ reason: String) -> Self {
    Self("'\(property)' cannot be stored: \(reason), or mark the property @Transient")
  }

  static func lazyProperty(_ property: String) -> Self {
    Self("'\(property)' is lazy, so storing it would initialize it; mark it @Transient, or make it computed")
  }

  static func reference(_ property: String, _ modifier: String) -> Self {
    Self("'\(property)' is a \(modifier) reference, which cannot be stored; mark it @Transient")
  }

  static func wrapper(_ property: String, _ attribute: String) -> Self {
    Self(
      "\(attribute) changes the stored type of '\(property)', which the macro cannot see; store a plain "
        + "property, or mark it @Transient")
  }

  static var tuplePattern: Self {
    Self("properties declared as a tuple cannot be stored; declare each separately")
  }

  static func transientWithoutValue(_ property: String) -> Self {
    Self(
      "@Transient '\(property)' is not stored, so a fetched model needs a value for it; add a default value")
  }
}
