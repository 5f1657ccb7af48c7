extension DeclarationMistake {
  static func classModel(_ name: String) -> Self {
    Self(
      "classModel",
      "@Persistent works on structs; make '\(name)' a struct, or conform the final class to PersistentRecord by "
        + "hand")
  }

  static func enumModel(_ name: String) -> Self {
    Self(
      "enumModel",
      "@Persistent works on structs; an enum conforms to PersistentValueConvertible and is the type of a "
        + "property")
  }

  static func otherModel(_ kind: String) -> Self {
    Self("otherModel", "@Persistent works on structs, not on \(kind)")
  }

  static func localModel(_ name: String) -> Self {
    Self(
      "localModel",
      "'\(name)' is declared inside of code, where no extension can follow it; move it out to a type or a file"
    )
  }

  static func privateNestedModel(_ name: String) -> Self {
    Self(
      "privateNestedModel",
      "'\(name)' is private inside of another type, where the generated extension cannot see it; make it "
        + "fileprivate")
  }

  static func noncopyableModel(_ name: String) -> Self {
    Self("noncopyableModel", "'\(name)' cannot be copied, as a model that is fetched and saved must be")
  }

  static let emptyModelName = Self("emptyModelName", "a model needs a stored name that is not empty")

  static let modelNameNotLiteral = Self(
    "modelNameNotLiteral",
    "the stored name is read when the macro runs: write it as one string literal, without "
      + "escapes")

  static func outsideModel(_ marker: String) -> Self {
    Self("outsideModel", "\(marker) says nothing here: it belongs directly inside of a @Persistent struct")
  }

  static func conditionalMember() -> Self {
    Self(
      "conditionalMember",
      "stored properties and indexes inside of #if would make different stores of one model; move them out, or "
        + "mark the properties @Transient")
  }

  static func reservedName(_ name: String) -> Self {
    Self("reservedName", "'\(name)' is what @Persistent generates here; choose another name")
  }
}
