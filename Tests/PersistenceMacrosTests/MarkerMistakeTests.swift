import ExpansionMessages
import Testing

@Suite("Issue 2: invalid markers are diagnosed in place")
struct MarkerMistakeTests {
  private func model(_ member: String) -> String {
    """
    @Persistent
    struct A {
      var id: Int
      \(member)
    }
    """
  }

  @Test("markers on computed properties", arguments: ["Indexed", "Unique", "Transient"])
  func computed(marker: String) {
    expect(
      model("→@\(marker) var x: Int { 1 }"),
      isMistaken: "@\(marker) belongs on a stored property; 'x' is computed and never stored",
      fixIts: ["remove @\(marker)"], fixed: model("var x: Int { 1 }"))
  }

  @Test("markers on static properties", arguments: ["Indexed", "Unique", "Transient"])
  func statics(marker: String) {
    expect(
      model("→@\(marker) static var x = 1"),
      isMistaken: "@\(marker) belongs on a stored property; 'x' is static and never stored",
      fixIts: ["remove @\(marker)"], fixed: model("static var x = 1"))
  }

  @Test("markers that contradict @Transient", arguments: ["Indexed", "Unique", "ID"])
  func transient(marker: String) {
    expect(
      model("→@\(marker) @Transient var x = 1"),
      isMistaken: "@\(marker) contradicts @Transient: 'x' is not in the store", fixIts: ["remove @\(marker)"],
      fixed: model("@Transient var x = 1"))
    expect(
      model("@Transient →@Field(\"y\") var x = 1"),
      isMistaken: "@Field contradicts @Transient: 'x' is not in the store", fixIts: ["remove @Field"],
      fixed: model("@Transient var x = 1"))
  }

  @Test("a repeated marker")
  func repeated() {
    expect(
      model("@Indexed →@Indexed var x: Int"), isMistaken: "'x' is marked @Indexed already",
      fixIts: ["remove @Indexed"], fixed: model("@Indexed var x: Int"))
  }

  @Test("a unique index that is also declared as a plain one")
  func indexedTwice() {
    expect(
      model("@Unique →@Indexed var x: Int"),
      isMistaken: "an index over the same properties is already declared", severity: .warning)
  }

  @Test("@Field names that are empty or not literals")
  func fieldNames() {
    expect(model("@Field(→\"\") var x: Int"), isMistaken: "a stored name cannot be empty")
    let message =
      "the macro reads the stored name from source: write one string literal without escapes"
    expect(model("@Field(→name) var x: Int"), isMistaken: message)
    expect(model("@Field(→\"a\\(1)\") var x: Int"), isMistaken: message)
  }

  @Test("two properties with the same stored name, byte for byte")
  func storedNames() {
    expect(
      model("→@Field(\"id\") var x: Int"),
      isMistaken: "'x' and 'id' are both stored as \"id\"; give one of them another @Field name")
    expect(
      model("@Field(\"y\") var x: Int; var →y: Int"),
      isMistaken: "'y' and 'x' are both stored as \"y\"; give one of them another @Field name")
    expectNoMistake(model("@Field(\"ID\") var x: Int"))
    expectNoMistake(model("@Field(\"\u{E9}\") var x: Int; @Field(\"e\u{301}\") var y: Int"))
  }

  @Test(
    "markers outside a model",
    arguments: [
      ("struct B { →@Indexed var x: Int }", "@Indexed"), ("final class B { →@ID var x = 1 }", "@ID"),
      ("→@Transient var x = 1", "@Transient"),
      ("@Persistent class B { struct C { →@Unique var x: Int } }", "@Unique"),
    ])
  func outside(source: String, marker: String) {
    let message = "\(marker) has no effect here: put it directly in a @Persistent struct"
    #expect(mistakes(in: source.replacing("→", with: "")).contains(message))
  }

  @Test("markers on declarations that are not properties")
  func noProperty() {
    let source = "@Persistent struct A { var id: Int; @Indexed func f() {} }"
    #expect(mistakes(in: source) == ["@Indexed belongs on a stored property"])
  }
}
