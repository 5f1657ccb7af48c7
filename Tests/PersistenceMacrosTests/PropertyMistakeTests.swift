import Testing

@Suite("V1 properties that cannot be stored are diagnosed at the declaration")
struct PropertyMistakeTests {
  private func model(_ member: String) -> String {
    """
    @Persistent
    struct A {
      var id: Int
      \(member)
    }
    """
  }

  @Test(
    "UInt and UInt64 are rejected, with the reason",
    arguments: [
      ("UInt64", "Int64", "UInt64"), ("UInt", "Int", "UInt"), ("UInt64?", "Int64?", "UInt64"),
      ("Optional<UInt>", "Optional<Int>", "UInt"), ("Swift.UInt64", "Int64", "UInt64"),
    ])
  func unsigned(type: String, signed: String, name: String) {
    expect(
      model("var size: →\(type)"),
      isMistaken:
        "'size' cannot be stored: values of \(name) do not fit in the 64 signed bits of a store",
      fixIts: ["make it \(signed.replacing("?", with: "").replacing("Optional<Int>", with: "Int"))"],
      fixed: model("var size: \(signed)"))
  }

  @Test("a property whose name a key path reads as a type", arguments: ["Type", "Protocol", "self", "Self"])
  func metatypeName(name: String) {
    expect(
      model("var →`\(name)`: String"),
      isMistaken:
        "'\(name)' cannot name a stored property, because Swift reads \\.\(name) as a type; choose another name, and "
        + "keep the stored name with @Field(\"\(name)\")")
  }

  @Test("an unsigned integer whose type is inferred from its value")
  func inferredUnsigned() {
    expect(
      model("var →size = UInt64(1)"),
      isMistaken:
        "'size' cannot be stored: values of UInt64 do not fit in the 64 signed bits of a store")
  }

  @Test(
    "types that cannot be stored",
    arguments: [
      ("() -> Void", "a function is not Codable; use a Codable type"),
      ("(@Sendable () -> Void)?", "a function is not Codable; use a Codable type"),
      ("(Int, Int)", "a tuple is not Codable; declare a Codable struct with these members"),
      ("Any", "'Any' does not say which type to read back; use a concrete type"),
      ("any Codable", "'any Codable' does not say which type to read back; use a concrete type"),
      ("(any Codable)?", "'any Codable' does not say which type to read back; use a concrete type"),
      ("some Codable", "'some Codable' does not say which type to read back; use a concrete type"),
      ("A & B", "'A & B' does not say which type to read back; use a concrete type"),
      ("Int.Type", "a metatype is not Codable; use a Codable type"),
      ("Substring", "'Substring' is not Codable; use String"),
      ("Unicode.Scalar", "'Unicode.Scalar' is not Codable; use String"),
      ("Void", "'Void' has no values to store; use another type"),
      (
        "Character",
        "Swift's Character is not Codable; use String, or write a type of your own with its module's name"
      ),
      ("UInt128", "values of UInt128 do not fit in 64 bits; use Int64 or Decimal"),
      ("KeyPath<A, Int>", "a key path is not Codable; use a Codable type"),
    ])
  func noData(type: String, reason: String) {
    expect(
      model("var x: →\(type)"),
      isMistaken: "'x' cannot be stored: \(reason), or mark the property @Transient",
      fixIts: type.hasSuffix("?") ? ["mark it @Transient"] : [],
      fixed: type.hasSuffix("?") ? model("@Transient var x: \(type)") : nil)
  }

  @Test("a nested optional")
  func nestedOptional() {
    for type in ["Int??", "Optional<Int?>", "Optional<Optional<Int>>"] {
      expect(
        model("var x: →\(type)"),
        isMistaken:
          "'x' cannot be stored: a stored nil of a nested optional would be ambiguous",
        fixIts: ["make it one optional"], fixed: model("var x: Int?"))
    }
  }

  @Test("a type that the source does not show")
  func needsType() {
    let message = "the source of 'x' does not show its type; add a type annotation"
    expect(
      model("var →x = Rating.pg"), isMistaken: message, fixIts: ["add a type annotation"],
      fixed: model("var x: Rating = Rating.pg"))
    expect(
      model("var →x = makeX()"), isMistaken: message, fixIts: ["add a type annotation"],
      fixed: model("var x: <#Type#> = makeX()"))
  }

  @Test("a constant with a value")
  func constant() {
    let message =
      "'x' is a constant with a value, so a stored value could not be read back; make it a variable, or mark it @Transient"
    expect(
      model("→let x = 1"), isMistaken: message, fixIts: ["make it a variable", "mark it @Transient"],
      fixed: model("var x = 1"))
    expect(
      "@Persistent struct A { →let id = UUID() }",
      isMistaken: message.replacing("'x'", with: "'id'"),
      fixIts: ["make it a variable", "mark it @Transient"],
      fixed: "@Persistent struct A { var id = UUID() }")
  }

  @Test("lazy, weak and wrapped properties")
  func storedElsewhere() {
    expect(
      model("→lazy var x = 1"),
      isMistaken: "'x' is lazy, so storing it would initialize it; mark it @Transient, or make it computed",
      fixIts: ["mark it @Transient"], fixed: model("@Transient lazy var x = 1"))
    expect(
      model("→weak var x: Node?"),
      isMistaken: "'x' is a weak reference, which cannot be stored; mark it @Transient",
      fixIts: ["mark it @Transient"], fixed: model("@Transient weak var x: Node?"))
    expect(
      model("→@Clamped(0...1) var x: Double = 0"),
      isMistaken:
        "@Clamped changes the stored type of 'x', which the macro cannot see; store a plain property, or mark it @Transient",
      fixIts: ["mark it @Transient"], fixed: model("@Transient @Clamped(0...1) var x: Double = 0"))
  }

  @Test("properties declared as a tuple")
  func tuples() {
    expect(
      model("var →(a, b) = (1, 2)"),
      isMistaken: "properties declared as a tuple cannot be stored; declare each separately")
  }

  @Test("@Transient without a value", arguments: ["var x: Int", "var x: Optional<Int>", "let x: Int?"])
  func transient(member: String) {
    expect(
      model("@Transient \(member.replacing("x", with: "→x"))"),
      isMistaken:
        "@Transient 'x' is not stored, so a fetched model needs a value for it; add a default value",
      fixIts: ["give it a value"], fixed: model("@Transient \(member) = <#value#>"))
  }

  @Test("one build reports every mistake of a declaration")
  func several() {
    let source = """
      @Persistent struct A {
        var id: Int?
        var a: UInt64
        let b = 1
      }
      """
    #expect(mistakes(in: source).count == 3)
  }
}
