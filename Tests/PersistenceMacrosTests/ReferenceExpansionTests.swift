import Foundation
import Testing

@Suite("Relations: @OnDelete")
struct ReferenceExpansionTests {
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
    "the rule becomes an argument of the field",
    arguments: [
      ("@OnDelete(.cascade) var x: Reference<B>", #".field("x", \.x, onDelete: .cascade)"#),
      ("@OnDelete(.setNil) var x: Reference<B>?", #".field("x", \.x, onDelete: .setNil)"#),
      ("@OnDelete(.setNil) var x: Optional<Reference<B>>", #".field("x", \.x, onDelete: .setNil)"#),
      ("@OnDelete(.restrict) var x: Alias", #".field("x", \.x, onDelete: .restrict)"#),
      (
        "@OnDelete(DeleteRule.cascade) var x: Core.Reference<B>",
        #".field("x", \.x, onDelete: DeleteRule.cascade)"#
      ),
      (
        #"@Field("y", was: "z") @OnDelete(.cascade) var x: Reference<B>"#,
        #".field("y", \.x, was: ["z"], onDelete: .cascade)"#
      ),
      ("var x: Reference<B>", #".field("x", \.x)"#),
    ])
  func rules(member: String, field: String) {
    let lines = expansion(of: model(member)).split(separator: "\n")
    #expect(lines.last { $0.contains(".field(") }.map { $0.trimmingCharacters(in: [" ", ","]) } == field)
  }

  @Test(
    "a rule on a property that is no reference",
    arguments: ["Int", "String?", "[Int]", "[Reference<B>]", "UUID"])
  func noReference(type: String) {
    expect(
      model("→@OnDelete(.cascade) var x: \(type)"),
      isMistaken: "@OnDelete belongs on a reference; 'x' is none: give it the type Reference<Model>",
      fixIts: ["remove @OnDelete"], fixed: model("var x: \(type)"))
  }

  @Test("a reference that cannot become nil")
  func required() {
    expect(
      model("→@OnDelete(.setNil) var x: Reference<B>"),
      isMistaken: "'x' cannot become nil when its target is deleted; make it optional, or use another rule",
      fixIts: ["make it optional"], fixed: model("@OnDelete(.setNil) var x: Reference<B>?"))
  }

  @Test("a rule on a computed property")
  func computed() {
    expect(
      model("→@OnDelete(.cascade) var x: Int { 1 }"),
      isMistaken: "@OnDelete belongs on a stored property; 'x' is computed and never stored",
      fixIts: ["remove @OnDelete"], fixed: model("var x: Int { 1 }"))
  }
}
