extension DeclarationMistake {
  static var fieldWithoutArguments: Self {
    Self("@Field has no effect without arguments; add a stored name, a former name or a fill")
  }

  static var formerNameNotLiteral: Self {
    Self("the macro reads former names from source: write string literals without escapes")
  }

  static var emptyFormerName: Self { Self("a former name cannot be empty") }

  static func presentFormerName(_ name: String) -> Self {
    Self("\"\(name)\" is the present stored name, so it is not a former one")
  }

  static func formerNameTwice(_ name: String) -> Self {
    Self("\"\(name)\" is already among the former names")
  }

  static func repeatedFormerName(_ name: String, _ property: String, _ other: String) -> Self {
    Self(
      "'\(property)' and '\(other)' cannot both continue the stored field \"\(name)\"; remove the former name "
        + "from one of them")
  }

  static func keyFill(_ property: String) -> Self {
    Self("'\(property)' is in the primary key, which every record has, so it cannot have a fill")
  }

  static func nilFill(_ property: String) -> Self {
    Self("'\(property)' is not optional, so its fill cannot be nil; use another value, or make it optional")
  }

  static var fillWithoutType: Self {
    Self("the compiler does not know the type of this fill; write it before the member, as in Rating.pg")
  }

  static var clockFill: Self {
    Self(
      "'now' has another value at each run, but a fill never changes; use a fixed date, such as "
        + "Date.distantPast")
  }

  static var fillNotConstant: Self {
    Self(
      "a fill is a literal, a member of a type, such as Date.distantPast, or an empty collection; for any other "
        + "value, use a static constant")
  }
}
