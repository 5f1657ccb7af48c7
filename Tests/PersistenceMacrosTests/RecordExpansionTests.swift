import Testing

@Suite("Decision 1: the extension equals handwritten code")
struct RecordExpansionTests {
  @Test("a model with a single-field key")
  func oneKey() {
    expect(
      """
      @Persistent
      struct Movie {
        var id: UUID
        let title: String
        @Indexed var rating: Rating?
        @Unique @Field("imdb id") private(set) var imdbID: String?
        @Transient var isSelected = false
        var cast: [String] = [] {
          didSet { print(cast) }
        }
        var shout: String { title.uppercased() }
        static let kind = "film"
        #Index<Movie>([\\.title, \\.rating], unique: true)
      }
      """,
      expandsTo: """
        struct Movie {
          var id: UUID
          let title: String
          var rating: Rating?
          private(set) var imdbID: String?
          var isSelected = false
          var cast: [String] = [] {
            didSet { print(cast) }
          }
          var shout: String { title.uppercased() }
          static let kind = "film"
        }

        nonisolated extension Movie: PersistenceCore.PersistentRecord {
          static let schema = PersistenceCore.RecordSchema<Self>(
            "Movie",
            fields: [
              .field("id", \\.id),
              .field("title", \\.title),
              .field("rating", \\.rating),
              .field("imdb id", \\.imdbID),
              .field("cast", \\.cast, fill: []),
            ],
            key: [\\.id],
            indexes: [
              PersistenceCore.RecordIndex(.property(\\.rating)),
              PersistenceCore.RecordIndex(.property(\\.imdbID), isUnique: true),
              PersistenceCore.RecordIndex(.property(\\.title), .property(\\.rating), isUnique: true),
            ]
          )
          typealias PrimaryKey = UUID
          var primaryKey: PrimaryKey {
            self.id
          }
          init(from row: borrowing PersistenceCore.Row) throws {
            let field0 = try row.decode(\\Self.id, at: 0)
            let field1 = try row.decode(\\Self.title, at: 1)
            let field2 = try row.decode(\\Self.rating, at: 2)
            let field3 = try row.decode(\\Self.imdbID, at: 3)
            let field4 = try row.decode(\\Self.cast, at: 4)
            self.id = field0
            self.title = field1
            self.rating = field2
            self.imdbID = field3
            self.cast = field4
          }
          func encode(into row: PersistenceCore.RowBuffer) throws {
            try row.store(self.id, at: 0)
            try row.store(self.title, at: 1)
            try row.store(self.rating, at: 2)
            try row.store(self.imdbID, at: 3)
            try row.store(self.cast, at: 4)
          }
        }
        """)
  }

  @Test("a public model with a composite key, a stored name and contexts")
  func compositeKey() {
    expect(
      """
      @Persistent("order lines", contexts: MemoryContext.self, Engines.Other.self)
      public struct Line {
        @ID public var order: UUID
        var amount, price: Int
        @ID let `default` = 1 as Int64
      }
      """.replacing("let `default` = 1 as Int64", with: "public var `default` = 1 as Int64"),
      expandsTo: """
        public struct Line {
          public var order: UUID
          var amount, price: Int
          public var `default` = 1 as Int64
        }

        nonisolated extension Line: PersistenceCore.PersistentRecord {
          public static let schema = PersistenceCore.RecordSchema<Self>(
            "order lines",
            fields: [
              .field("order", \\.order),
              .field("amount", \\.amount),
              .field("price", \\.price),
              .field("default", \\.`default`),
            ],
            key: [\\.order, \\.`default`]
          )
          public static var supportedContexts: PersistenceCore.SupportedContexts {
            .only(MemoryContext.self, Engines.Other.self)
          }
          public struct PrimaryKey: PersistenceCore.PersistentKey {
            public var order: UUID
            public var `default`: Int64
            public init(order: UUID, default: Int64) {
              self.order = order
              self.`default` = `default`
            }
            public var keyValues: [PersistenceCore.PersistentValue] {
              self.order.keyValues + self.`default`.keyValues
            }
          }
          public var primaryKey: PrimaryKey {
            PrimaryKey(order: self.order, default: self.`default`)
          }
          public init(from row: borrowing PersistenceCore.Row) throws {
            let field0 = try row.decode(\\Self.order, at: 0)
            let field1 = try row.decode(\\Self.amount, at: 1)
            let field2 = try row.decode(\\Self.price, at: 2)
            let field3 = try row.decode(\\Self.`default`, at: 3)
            self.order = field0
            self.amount = field1
            self.price = field2
            self.`default` = field3
          }
          public func encode(into row: PersistenceCore.RowBuffer) throws {
            try row.store(self.order, at: 0)
            try row.store(self.amount, at: 1)
            try row.store(self.price, at: 2)
            try row.store(self.`default`, at: 3)
          }
        }
        """)
  }

  @Test("a generic model computes its schema and has a name for each type argument")
  func generic() {
    let expanded = expansion(
      of: "@Persistent struct Box<Value: Codable & Sendable> { var id = 0; var value: Value }")
    #expect(expanded.contains("static var schema: PersistenceCore.RecordSchema<Self> {"))
    #expect(expanded.contains("PersistenceCore.RecordSchema.shared(for: Self.self) {"))
    #expect(expanded.contains(#""\(Self.self)","#))
    #expect(expanded.contains("typealias PrimaryKey = Int"))
  }

  @Test("a model in a type that is or may be generic computes its schema")
  func nestedInGeneric() {
    let inside = expansion(of: "struct Outer<T> { @Persistent struct Box { var id: Int } }")
    #expect(inside.contains("extension Outer.Box: PersistenceCore.PersistentRecord"))
    #expect(inside.contains("static var schema"))
    let extended = expansion(of: "extension Outer { @Persistent struct Box { var id: Int } }")
    #expect(extended.contains("static var schema"))
    #expect(extended.contains(#""\(Outer.self).Box","#))
    #expect(inside.contains(#""\(Outer.self).Box","#))
    let plain = expansion(of: "enum Outer { @Persistent struct Box { var id: Int } }")
    #expect(plain.contains("static let schema"))
    #expect(plain.contains(#""Outer.Box","#))
    let deep = expansion(of: "extension A.B { enum C { @Persistent struct D<T> { var id: Int } } }")
    #expect(deep.contains(#""A.\(A.B.self).C.\(Self.self)","#))
  }

  @Test("the key's type is a member of a nested model, which sees the types beside the model")
  func nestedKey() {
    for outer in ["enum", "extension"] {
      let single = expansion(of: "\(outer) Library { @Persistent struct Book { var id: BookID } }")
        .split(separator: "nonisolated extension")
      #expect(single.count == 2 && single[0].contains("typealias PrimaryKey = BookID"))
      #expect(single.last?.contains("typealias") == false)
    }
    let several = expansion(
      of: "private enum Hotel { @Persistent struct Stay { @ID var room: RoomID; @ID var day: Int } }"
    ).split(separator: "nonisolated extension")
    #expect(several.count == 2)
    #expect(
      several[0].contains("fileprivate nonisolated struct PrimaryKey: PersistenceCore.PersistentKey {")
        && several[0].contains("fileprivate var room: RoomID"))
    #expect(several.last?.contains("struct PrimaryKey") == false)
    #expect(
      mistakes(in: "enum Outer { @Persistent struct A { var id: Int; struct PrimaryKey {} } }").count == 1)
  }

  @Test("members have the model's access level")
  func access() {
    let packaged = expansion(of: "@Persistent package struct A { var id: Int }")
    #expect(packaged.contains("package static let schema") && packaged.contains("package init(from"))
    let published = expansion(of: "public extension Outer { @Persistent struct A { var id: Int } }")
    #expect(published.contains("public static var schema"))
    let hidden = expansion(of: "public extension Outer { @Persistent internal struct A { var id: Int } }")
    #expect(!hidden.contains("public static"))
    let inside = expansion(of: "private enum Outer { @Persistent struct A { var id: Int } }")
    #expect(inside.contains("fileprivate static let schema"))
    #expect(!expansion(of: "@Persistent fileprivate struct A { var id: Int }").contains("fileprivate static"))
  }

  @Test("a property named primaryKey is the key itself")
  func namedAsRequired() {
    let expanded = expansion(of: "@Persistent struct A { @ID var primaryKey: Int }")
    #expect(
      expanded.contains("typealias PrimaryKey = Int") && !expanded.contains("var primaryKey: PrimaryKey"))
  }

  @Test(
    "V1 types are inferred from values",
    arguments: [
      ("1", "Int"), ("-1", "Int"), ("\"a\"", "String"), ("UUID()", "UUID"),
      ("Foundation.UUID()", "Foundation.UUID"),
      ("1 as Int64", "Int64"), ("MovieID(rawValue: 1)", "MovieID"), ("Outer.ID()", "Outer.ID"),
    ])
  func inferredKeys(value: String, type: String) {
    let expanded = expansion(of: "@Persistent struct A { var id = \(value) }")
    #expect(expanded.contains("typealias PrimaryKey = \(type)\n"))
  }

  @Test(
    "all forms of stored properties are fields",
    arguments: [
      "var a = 1.5", "var a = true", "var a = -1.5", "var a = [1, 2]", "var a = [String]()",
      "var a = [String: Int]()", "var a = Set<Int>()", "var a = Date()", "var a: Int?", "var a: Int!",
      "let a: Int", "var a: Optional<Int> = nil", "var a: Swift.Optional<Int> = nil", "var a: (Int) = 1",
      "private var a = 1", "public private(set) var a = 1", "var a: Int { willSet {} didSet {} }",
      "@available(*, deprecated) var a: Int", "nonisolated var a: Int", "var `class`: Int", "var a: [UInt64]",
      "var a: Mine.Character", "var a, b: Int", "var a = 1, b: Int", "@Transient lazy var a = 1",
      "@Transient var a: () -> Void = {}", "@Transient var a: Int?", "@Transient let a = 1",
      "@Transient @State var a: Int", "static var (a, b) = (1, 2)", "@Transient var (a, b) = (1, 2)",
      "var a: Int { get { 1 } }", "static let a = UInt64(1)", "lazy var a = 1".replacing("lazy ", with: ""),
      "@Indexed var a: [UInt8]", "@Indexed var a: Array<UInt8>", "#if DEBUG\nfunc f() {}\n#endif",
      "#if DEBUG\n@Transient var a = 1\nstatic var b = 2\nvar c: Int { 1 }\n#endif", "struct Row {}",
      "@Field(#\"a\\b\"#) var a: Int",
    ])
  func forms(member: String) {
    expectNoMistake("@Persistent struct A {\nvar id: Int\n\(member)\n}")
  }
}
