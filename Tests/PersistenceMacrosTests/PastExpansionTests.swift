import Foundation
import Testing

@Suite("Schema evolution: former names and fills")
struct PastExpansionTests {
  private func model(_ member: String) -> String {
    """
    @Persistent
    struct A {
      var id: Int
      \(member)
    }
    """
  }

  private func field(_ member: String) -> String? {
    let lines = expansion(of: model(member)).split(separator: "\n")
    return lines.last { $0.contains(".field(") }.map { $0.trimmingCharacters(in: [" ", ","]) }
  }

  @Test(
    "@Field arguments and default values",
    arguments: [
      (#"@Field(was: "grade") var x: Rating = .pg"#, #".field("x", \.x, was: ["grade"], fill: .pg)"#),
      (#"@Field(was: "a", "b") var x: Int"#, #".field("x", \.x, was: ["a", "b"])"#),
      (
        #"@Field("minutes", was: "length", fill: 0) var x: Int"#,
        #".field("minutes", \.x, was: ["length"], fill: 0)"#
      ),
      ("@Field(fill: Date.distantPast) var x = Date()", #".field("x", \.x, fill: .distantPast)"#),
      ("@Field(fill: Limits.most) var x: Int = 1", #".field("x", \.x, fill: Limits.most)"#),
      ("@Field(fill: nil) var x: Int? = 1", #".field("x", \.x)"#),
      ("@Field(fill: []) let x: [Int]", #".field("x", \.x, fill: [])"#),
      ("var x = -1.5", #".field("x", \.x, fill: -1.5)"#),
      ("var x = true", #".field("x", \.x, fill: true)"#),
      (##"var x = #"a\b"#"##, ##".field("x", \.x, fill: #"a\b"#)"##),
      ("var x = \"\"\"\n  a\n  b\n  \"\"\"", #".field("x", \.x, fill: "a\nb")"#),
      ("var x = 1 as Int64", #".field("x", \.x, fill: 1)"#),
      ("var x: Rating? = Rating.pg", #".field("x", \.x, fill: .pg)"#),
      ("var x: Rating = .none", #".field("x", \.x, fill: .some(.none))"#),
      ("var x: Int = Self.most", #".field("x", \.x, fill: Self.most)"#),
      ("var x: Int = Limits.most", #".field("x", \.x, fill: Limits.most)"#),
      ("var x: [String: Int] = [:]", #".field("x", \.x, fill: [:])"#),
      ("var x: Set<Int>? = []", #".field("x", \.x, fill: [])"#),
    ])
  func fields(member: String, field: String) { #expect(self.field(member) == field) }

  @Test(
    "default values that are no fills",
    arguments: [
      "var x = Date()", "var x = UUID()", "var x: Date = .now", "var x: Date? = Date.now",
      "var x: Int? = nil",
      "var x: Rating? = .none", "var x = [1]", "var x = [Int]()", #"var x = "a\(1)""#,
      "var x: Int = limits.most", "var x: Int = most", "var x: Rating = .custom(1)", "var x: Int = 1 + 1",
    ])
  func noFill(member: String) { #expect(field(member) == #".field("x", \.x)"#) }

  @Test("a model's former names")
  func model() {
    let expanded = expansion(
      of: #"@Persistent("Film", was: "Movie", "Picture", contexts: M.self) struct A { var id = 0 }"#)
    #expect(expanded.contains(#""Film", was: ["Movie", "Picture"],"#))
    #expect(expanded.contains(".only(M.self)"))
    #expect(expanded.contains(#".field("id", \.id),"#))
    let unnamed = expansion(of: #"@Persistent(was: "Movie") struct A { var id = 0 }"#)
    #expect(unnamed.contains(#""A", was: ["Movie"],"#))
  }

  @Test("a member of another type is no fill in a nested model, whose extension may not find the type")
  func nested() {
    let expanded = expansion(
      of: """
        enum Outer {
          @Persistent struct A { var id: Int; var x: Int = Limits.most; var y: Size = Size.s }
        }
        """)
    #expect(expanded.contains(#".field("x", \.x),"#))
    #expect(expanded.contains(#".field("y", \.y, fill: .s),"#))
  }

  @Test("invalid former names of properties")
  func formerNames() {
    let notLiteral = "the macro reads former names from source: write string literals without escapes"
    expect(model("@Field(was: →name) var x: Int"), isMistaken: notLiteral)
    expect(model(#"@Field(was: "a", →"b\(1)") var x: Int"#), isMistaken: notLiteral)
    expect(
      model(#"@Field(was: "a", →"") var x: Int"#), isMistaken: "a former name cannot be empty",
      fixIts: ["remove the name"], fixed: model(#"@Field(was: "a") var x: Int"#))
    expect(
      model(#"@Field(was: →"x", "y") var x: Int"#),
      isMistaken: #""x" is the present stored name, so it is not a former one"#, fixIts: ["remove the name"],
      fixed: model(#"@Field(was: "y") var x: Int"#))
    expect(
      model(#"@Field(was: →"x") var x: Int"#),
      isMistaken: #""x" is the present stored name, so it is not a former one"#, fixIts: ["remove the name"],
      fixed: model("var x: Int"))
    expect(
      model(#"@Field(was: "y", →"y") var x: Int"#), isMistaken: #""y" is already among the former names"#,
      fixIts: ["remove the name"], fixed: model(#"@Field(was: "y") var x: Int"#))
    expect(
      model(#"@Field(was: "z") var x: Int; @Field("b", was: →"z") var y: Int"#),
      isMistaken:
        #"'y' and 'x' cannot both continue the stored field "z"; remove the former name from one of them"#,
      fixIts: ["remove the name"], fixed: model(#"@Field(was: "z") var x: Int; @Field("b") var y: Int"#))
    expect(
      model("→@Field var x: Int"),
      isMistaken: "@Field has no effect without arguments; add a stored name, a former name or a fill",
      fixIts: ["remove @Field"], fixed: model("var x: Int"))
  }

  @Test("invalid former names of models")
  func formerModelNames() {
    expect(
      #"@Persistent("B", was: →"B") struct A { var id: Int }"#,
      isMistaken: #""B" is the present stored name, so it is not a former one"#, fixIts: ["remove the name"],
      fixed: #"@Persistent("B") struct A { var id: Int }"#)
    expect(
      #"@Persistent(was: →"A") struct A { var id: Int }"#,
      isMistaken: #""A" is the present stored name, so it is not a former one"#, fixIts: ["remove the name"],
      fixed: "@Persistent struct A { var id: Int }")
    expect(
      #"@Persistent(was: →name) struct A { var id: Int }"#,
      isMistaken: "the macro reads former names from source: write string literals without escapes")
  }

  @Test("invalid fills")
  func fills() {
    expect(
      model("@Field(\"y\", fill: →1) @ID var x: Int").replacing("var id", with: "@ID var id"),
      isMistaken: "'x' is in the primary key, which every record has, so it cannot have a fill",
      fixIts: ["remove the fill"],
      fixed: model("@Field(\"y\") @ID var x: Int").replacing("var id", with: "@ID var id"))
    expect(
      model("@Transient →@Field(fill: 1) var x = 1"),
      isMistaken: "@Field contradicts @Transient: 'x' is not in the store", fixIts: ["remove @Field"],
      fixed: model("@Transient var x = 1"))
    expect(
      model("@Field(fill: →nil) var x: Int"),
      isMistaken: "'x' is not optional, so its fill cannot be nil; use another value, or make it optional")
    expect(
      model("@Field(fill: →.pg) var x: Rating?"),
      isMistaken:
        "the compiler does not know the type of this fill; write it before the member, as in Rating.pg",
      fixIts: ["add the type"], fixed: model("@Field(fill: Rating.pg) var x: Rating?"))
    expect(
      model("@Field(fill: →Date.now) var x: Date"),
      isMistaken:
        "'now' has another value at each run, but a fill never changes; use a fixed date, such as Date.distantPast"
    )
    for value in ["Date()", "[1]", "1 + 1", "limit", #""\(1)""#] {
      expect(
        model("@Field(fill: →\(value)) var x: Date"),
        isMistaken:
          "a fill is a literal, a member of a type, such as Date.distantPast, or an empty collection; for any other value, use a static constant"
      )
    }
  }
}
