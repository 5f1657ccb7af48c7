import ExpansionMessages
import Testing

@Suite("O1 invalid primary keys are diagnosed at the declaration")
struct KeyMistakeTests {
  @Test("no key")
  func none() {
    expect(
      """
      @Persistent
      struct →Movie {
        var title: String
        var year: Int?
      }
      """, isMistaken: "'Movie' has no primary key: name a property 'id', or mark one with @ID",
      fixIts: ["make 'title' the key", "add a key"],
      fixed: """
        @Persistent
        struct Movie {
          @ID var title: String
          var year: Int?
        }
        """)
    expect(
      """
      @Persistent
      struct →Movie {
        var seen: Bool
      }
      """, isMistaken: "'Movie' has no primary key: name a property 'id', or mark one with @ID",
      fixIts: ["add a key"],
      fixed: """
        @Persistent
        struct Movie {
          var id: UUID
          var seen: Bool
        }
        """)
  }

  @Test("a computed or static key")
  func unstored() {
    let computed = "the primary key 'id' is computed; a key is a stored property"
    expect("@Persistent struct A { var →id: Int { 1 }; var a: Int }", isMistaken: computed)
    expect("@Persistent struct A { →@ID var id: Int { 1 }; var a: Int }", isMistaken: computed)
    let shared = "the primary key 'id' is static; a key is an instance property"
    expect("@Persistent struct A { static var →id = 1; var a: Int }", isMistaken: shared)
    expect("@Persistent struct A { →@ID static var id = 1; var a: Int }", isMistaken: shared)
    expectNoMistake("@Persistent struct A { @ID var a: Int; var id: Int { a } }")
  }

  @Test("an optional key", arguments: ["UUID?", "UUID!", "Optional<UUID>"])
  func optional(type: String) {
    expect(
      "@Persistent struct A { var id: →\(type) }",
      isMistaken: "the primary key 'id' is optional; a key is never nil", fixIts: ["remove the optional"],
      fixed: "@Persistent struct A { var id: UUID }")
  }

  @Test(
    "a key of an unsupported type",
    arguments: ["Double", "Date", "Bool", "Data", "URL", "Decimal", "[UInt8]", "[String]", "Set<Int>"])
  func wrongType(type: String) {
    expect(
      "@Persistent struct A { @ID var key: →\(type) }",
      isMistaken:
        "'key' cannot be the primary key: a primary key is an Int, Int64, String, UUID or a raw-representable wrapper of one, not '\(type)'"
    )
  }

  @Test("a key of a narrow integer", arguments: ["Int8", "Int32", "UInt8", "UInt32"])
  func narrow(type: String) {
    expect(
      "@Persistent struct A { @ID var key: →\(type) }",
      isMistaken:
        "'key' cannot be the primary key: a primary key is an Int, Int64, String, UUID or a raw-representable wrapper of one, not '\(type)'",
      fixIts: ["make it Int"], fixed: "@Persistent struct A { @ID var key: Int }")
  }

  @Test("a key of an unsigned integer is diagnosed once, with the reason")
  func unsigned() {
    expect(
      "@Persistent struct A { var id: →UInt64 }",
      isMistaken:
        "'id' cannot be stored: values of UInt64 do not fit in the 64 signed bits of a store",
      fixIts: ["make it Int64"], fixed: "@Persistent struct A { var id: Int64 }")
  }

  @Test("an index on the primary key, which is already unique and indexed")
  func redundant() {
    expect(
      "@Persistent struct A { →@Unique var id: Int }",
      isMistaken: "@Unique has no effect: 'id' is the primary key, which is unique and indexed",
      severity: .warning, fixIts: ["remove @Unique"], fixed: "@Persistent struct A { var id: Int }")
    expectNoMistake("@Persistent struct A { @ID @Indexed var a: Int; @ID @Indexed var b: Int }")
  }
}
