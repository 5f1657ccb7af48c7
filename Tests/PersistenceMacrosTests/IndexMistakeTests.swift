import ExpansionMessages
import Testing

@Suite("Issue 2: invalid indexes are diagnosed at the declaration")
struct IndexMistakeTests {
  private func model(_ member: String) -> String {
    """
    @Persistent
    struct A {
      var id: Int
      var a: Int
      var tags: [String]?
      @Transient var b = 1
      var c: Int { a }
      \(member)
    }
    """
  }

  @Test("an index without properties")
  func empty() {
    expect(model("#Index<A>(→[])"), isMistaken: "an index needs at least one property")
  }

  @Test("an index over a property that is not stored", arguments: ["b", "c", "missing"])
  func unknown(name: String) {
    expect(
      model("#Index<A>([\\.a, →\\.\(name)])"),
      isMistaken: "'\(name)' is not a stored property of 'A', so it cannot be indexed")
  }

  @Test("an index over one property twice")
  func repeatedProperty() {
    expect(model("#Index<A>([\\.a, →\\.a])"), isMistaken: "'a' is already in this index")
  }

  @Test("an index over a part of a property")
  func inside() {
    expect(
      model("#Index<A>([→\\.a.bitWidth])"),
      isMistaken:
        "an index contains whole stored properties, not parts of one: '\\.a.bitWidth'")
  }

  @Test("an index of another model")
  func root() {
    expect(
      model("#Index<→B>([\\.a])"),
      isMistaken: "an index in 'A' must use key paths of 'A', not of 'B'")
    expect(
      model("#Index([\\→B.a])"), isMistaken: "an index in 'A' must use key paths of 'A', not of 'B'")
    expectNoMistake(model("#Index<Outer.A>([\\A.a, \\Self.id])"))
  }

  @Test("an index over a document", arguments: ["[String]", "[String: Int]?", "Set<Int>", "Array<String>"])
  func documents(type: String) {
    let plain = type.replacing("?", with: "")
    let message =
      "'x' is stored as a document, since it is a '\(plain)'; documents have no order and cannot be indexed"
    expect(model("→@Indexed var x: \(type)"), isMistaken: message)
    expect(model("→@Unique var x: \(type)"), isMistaken: message)
    expect(model("var x: \(type); #Index<A>([\\.a, →\\.x])"), isMistaken: message)
  }

  @Test("an index that cannot be read")
  func notLiteral() {
    let message =
      "the macro reads the properties of an index from source: write an array of key paths, such as [\\.a, \\.b]"
    expect(model("#Index<A>(→paths)"), isMistaken: message)
    expect(model("#Index<A>([→path])"), isMistaken: message)
    expect(
      model("#Index<A>([\\.a], unique: →flag)"),
      isMistaken: "the macro reads the uniqueness of an index from source: write true or false")
  }

  @Test("a repeated index")
  func repeated() {
    expect(
      model("#Index<A>([\\.a, \\.id])\n  →#Index<A>([\\.a, \\.id], unique: true)"),
      isMistaken: "an index over the same properties is already declared", severity: .warning)
    expectNoMistake(model("#Index<A>([\\.a, \\.id])\n  #Index<A>([\\.id, \\.a])"))
  }

  @Test("an index outside a model")
  func outside() {
    #expect(
      mistakes(in: "struct B { var a: Int; #Index<B>([\\.a]) }") == [
        "#Index has no effect here: put it directly in a @Persistent struct"
      ])
  }
}
