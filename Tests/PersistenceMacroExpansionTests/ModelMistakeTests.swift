import Testing

@Suite("Issue 2: wrong models are diagnosed at the declaration")
struct ModelMistakeTests {
  @Test("a class")
  func classes() {
    expect(
      "@Persistent →class Movie { var id = 0 }",
      isMistaken:
        "@Persistent works on structs; make 'Movie' a struct, or conform the final class to PersistentRecord by hand",
      fixIts: ["make it a struct"], fixed: "@Persistent struct Movie { var id = 0 }")
    expect(
      "@Persistent final →class Movie: Base { var id = 0 }",
      isMistaken:
        "@Persistent works on structs; make 'Movie' a struct, or conform the final class to PersistentRecord by hand"
    )
  }

  @Test("an enum, an actor, a protocol, an extension")
  func others() {
    expect(
      "@Persistent →enum Rating { case g }",
      isMistaken:
        "@Persistent works on structs; an enum conforms to PersistentValueConvertible and is the type of a property"
    )
    expect("@Persistent →actor A {}", isMistaken: "@Persistent works on structs, not on an actor")
  }

  @Test("a local type, in a function, a closure or an accessor")
  func local() {
    let message =
      "'A' is declared inside of code, where no extension can follow it; move it out to a type or a file"
    expect(
      """
      func f() {
        @Persistent struct →A { var id: Int }
      }
      """, isMistaken: message)
    expect(
      """
      struct Outer {
        var x: Int {
          @Persistent struct →A { var id: Int }
          return 1
        }
      }
      """, isMistaken: message)
    expect(
      """
      struct Outer {
        let x = { @Persistent struct →A { var id: Int } }
      }
      """, isMistaken: message)
  }

  @Test("a type that is private inside of another")
  func privateNested() {
    let message =
      "'A' is private inside of another type, where the generated extension cannot see it; make it fileprivate"
    expect(
      """
      enum Outer {
        @Persistent →private struct A { var id: Int }
      }
      """, isMistaken: message, fixIts: ["make it fileprivate"],
      fixed: """
        enum Outer {
          @Persistent fileprivate struct A { var id: Int }
        }
        """)
    expect(
      """
      enum Outer {
        private enum Middle {
          @Persistent struct →A { var id: Int }
        }
      }
      """, isMistaken: message)
    expectNoMistake("private enum Outer { @Persistent struct A { var id: Int } }")
    expectNoMistake("@Persistent private struct A { var id: Int }")
  }

  @Test("a type that cannot be copied")
  func noncopyable() {
    expect(
      "@Persistent struct →A: ~Copyable { var id: Int }",
      isMistaken: "'A' cannot be copied, as a model that is fetched and saved must be")
  }

  @Test("a stored name that is empty, or that cannot be read")
  func storedName() {
    expect(
      "@Persistent(→\"\") struct A { var id: Int }",
      isMistaken: "a model needs a stored name that is not empty")
    let message =
      "the stored name is read when the macro runs: write it as one string literal, without escapes"
    expect("@Persistent(→name) struct A { var id: Int }", isMistaken: message)
    expect("@Persistent(→\"\\(name)\") struct A { var id: Int }", isMistaken: message)
    expect("@Persistent(→\"a\\n\") struct A { var id: Int }", isMistaken: message)
  }

  @Test("stored members that not every build has")
  func conditional() {
    let message =
      "stored properties and indexes inside of #if would make different stores of one model; move them out, or mark the properties @Transient"
    expect(
      """
      @Persistent struct A {
        var id: Int
        →#if DEBUG
        var note: String
        #endif
      }
      """, isMistaken: message)
    expect(
      """
      @Persistent struct A {
        var id: Int
        →#if DEBUG
        func f() {}
        #else
        #if os(Linux)
        #Index<A>([\\.id])
        #endif
        #endif
      }
      """, isMistaken: message)
  }

  @Test("names that the extension needs")
  func reserved() {
    func message(_ name: String) -> String {
      "'\(name)' is what @Persistent generates here; choose another name"
    }
    expect(
      "@Persistent struct A { var id: Int; struct →PrimaryKey {} }", isMistaken: message("PrimaryKey"))
    expect("@Persistent struct A { var id: Int; var →primaryKey: Int }", isMistaken: message("primaryKey"))
    expect(
      "@Persistent struct A { var id: Int; var →primaryKey: Int { id } }", isMistaken: message("primaryKey"))
    expect("@Persistent struct A { var id: Int; static let →schema = 1 }", isMistaken: message("schema"))
    expect(
      "@Persistent(contexts: M.self) struct A { var id: Int; static let →supportedContexts = 1 }",
      isMistaken: message("supportedContexts"))
    expectNoMistake("@Persistent struct A { var id: Int; static let supportedContexts = 1; var schema: Int }")
  }
}
