import ContextTestSupport
import Foundation
import PersistenceCore
import Testing

@Suite("E6: hostile names and keys are data")
struct HostileNameTests {
  /// Names that an engine, a file system or a query language may take for something else.
  private static let names: [String] = [
    "../../x", "a/b", "/", ".", "..", "CON", "con", "NUL.txt", "", " ", "sqlite_x", "sqlite_master", "SELECT",
    "a\"b", "a'b", "a;b--", "a`b", "[a]", "a\\b", "a\0b", "\0", "index", "rowid", "_rowid_", "oid", "name",
    "Name",
    "NAME", "\u{E9}", "e\u{301}", "E\u{301}", "%", "a%2Fb", "%2E%2E", "a*?<>|:", "\n", "~", "-", "data.mdb",
    "lock.mdb",
    ".persistence", "catalog", "👩‍👩‍👧", "\u{202E}x", "x.json", "_x", "persistence_x",
    String(repeating: "n", count: 300), String(repeating: "n", count: 301),
    String(repeating: "é", count: 150),
    String(repeating: "k", count: 511), String(repeating: "k", count: 512),
    String(repeating: "k", count: 1000),
  ]

  private static func schema(_ name: String, fields: [String] = []) throws -> ModelSchema {
    try ModelSchema(
      name: name,
      fields: [FieldSchema("id", .string)] + fields.map { FieldSchema($0, .string, isOptional: true) },
      key: ["id"], indexes: fields.map { IndexSchema([$0]) })
  }

  @Test("E6 model names neither escape the store nor collide", arguments: ContextUnderTest.all)
  func models(context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    for name in Self.names {
      try RowStore(repository.storage, Self.schema(name)).save([[.text("of \(name)")]])
    }
    for isReopened in [false, true] {
      if isReopened {
        guard try repository.storage.capabilities.isDurable else { break }
        try repository.close()
        repository = try store.open()
      }
      let known = try repository.storage.catalog().map(\.name.exactText)
      #expect(known == Self.names.sorted { String.oracle($0, $1) < 0 }.map(\.exactText))
      for name in Self.names {
        #expect(
          try RowStore(repository.storage, Self.schema(name)).rows() == [[.text("of \(name)")]],
          "\(name.debugDescription)")
      }
    }
    try repository.storage.transaction { _ = try $0.deleteAll(in: Self.schema("name")) }
    #expect(try RowStore(repository.storage, Self.schema("name")).rows().isEmpty)
    #expect(try RowStore(repository.storage, Self.schema("Name")).rows().count == 1)
    // Nothing but the store stands in its folder.
    let beside = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
    #expect(beside.allSatisfy { $0.hasPrefix("store") })
  }

  @Test("E6 field names are data: stored, found, sorted and indexed by", arguments: ContextUnderTest.all)
  func fields(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let names = Self.names.filter { $0 != "id" }
    let schema = try Self.schema("Fields", fields: names)
    let rows = RowStore(try repository.storage, schema)
    let first: [PersistentValue] = [.text("1")] + names.map { .text("a of \($0)") }
    let second: [PersistentValue] = [.text("2")] + names.map { _ in .null }
    try rows.save([first, second])
    #expect(try rows.rows() == [first, second])
    for (number, name) in names.enumerated() {
      let same = PredicateNode.comparison(field: name, .equal, .text("a of \(name)"))
      #expect(try rows.rows(where: same) == [first], "\(name.debugDescription)")
      #expect(try rows.rows(where: .not(same)) == [second], "\(name.debugDescription)")
      #expect(try rows.rows(order: [FieldOrder(name)]) == [second, first], "\(name.debugDescription)")
      #expect(
        try rows.rows(order: [FieldOrder(name, isDescending: true)])[0][number + 1] == first[number + 1])
    }
    #expect(try repository.storage.catalog() == [schema])
  }

  @Test("E6 a model may be called like another's index or table", arguments: ContextUnderTest.all)
  func indexNames(context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open()
    let first = try ModelSchema(
      name: "T", fields: [FieldSchema("id", .int64), FieldSchema("a", .string), FieldSchema("b", .string)],
      key: ["id"],
      indexes: [IndexSchema(["a"]), IndexSchema(["a", "b"]), IndexSchema(["b"], isUnique: true)])
    let rows = RowStore(try repository.storage, first)
    try rows.save([[.integer(1), .text("x"), .text("y")]])
    let others = [
      "T_a", "T.a", "T a", "T_a_b", "T(a)", "T_b_unique", "index_T_a", "T_index_a", "a", "T_a_idx", "idx_T_a",
      "T/a",
      "unique", "records", "T_view", "T_readable", "t", "T ", "T\0",
    ]
    for name in others {
      try RowStore(repository.storage, Self.schema(name, fields: ["a"])).save([[.text(name), .null]])
    }
    #expect(try rows.rows(where: .comparison(field: "a", .equal, .text("x"))).count == 1)
    for name in others {
      #expect(
        try RowStore(repository.storage, Self.schema(name, fields: ["a"])).rows() == [[.text(name), .null]])
    }
    #expect(try repository.storage.catalog().count == others.count + 1)
    // Two indexes whose names would run together.
    let clash = try ModelSchema(
      name: "Clash",
      fields: [
        FieldSchema("id", .int64), FieldSchema("a_b", .string), FieldSchema("c", .string),
        FieldSchema("a", .string), FieldSchema("b_c", .string),
      ],
      key: ["id"],
      indexes: [
        IndexSchema(["a_b", "c"]), IndexSchema(["a", "b_c"]), IndexSchema(["a_b", "c"], isUnique: true),
      ])
    let clashing = RowStore(try repository.storage, clash)
    try clashing.save([[.integer(1), .text("1"), .text("2"), .text("3"), .text("4")]])
    expectError(.uniqueViolation) {
      try clashing.save([[.integer(2), .text("1"), .text("2"), .text("5"), .text("6")]])
    }
    #expect(try clashing.rows().count == 1)
  }

  @Test(
    "E6 text keys are data: every hostile name, and every length around an engine's limits",
    arguments: ContextUnderTest.all)
  func keys(context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    let stem = String(repeating: "p", count: 505)
    let keys =
      Self.names + (0...12).map { stem + String(repeating: "z", count: $0) }
      + (0...5).map { stem + stem + "\($0)" }
    try repository.insert(contentsOf: keys.map { Keyed($0, "of \($0)") })
    for isReopened in [false, true] {
      if isReopened {
        guard try repository.storage.capabilities.isDurable else { break }
        try repository.close()
        repository = try store.open()
      }
      let sorted = keys.sorted { String.oracle($0, $1) < 0 }
      #expect(try repository.fetch(Keyed<String>.self).map(\.id.exactText) == sorted.map(\.exactText))
      #expect(
        try repository.filter(Keyed<String>.self).sorted(by: \.id, inOrder: .descending).result().map(
          \.id.exactText)
          == sorted.reversed().map(\.exactText))
      #expect(
        try pages(of: 7, repository.filter(Keyed<String>.self)).map(\.id.exactText) == sorted.map(\.exactText)
      )
      for key in keys {
        #expect(
          try repository.find(Keyed<String>.self, id: key)?.label == "of \(key)", "\(key.debugDescription)")
        #expect(
          try repository.filter(Keyed<String>.self, where: \.label == "of \(key)").result().map(
            \.id.exactText) == [key.exactText])
      }
    }
    for key in keys { #expect(try repository.delete(Keyed<String>.self, id: key), "\(key.debugDescription)") }
    #expect(try repository.count(Keyed<String>.self) == 0)
    let beside = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
    #expect(beside.allSatisfy { $0.hasPrefix("store") })
  }

  @Test(
    "E6 long keys, and long indexed values that begin alike, keep their order and uniqueness",
    arguments: ContextUnderTest.all)
  func longValues(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let stem = String(repeating: "é", count: 600)
    let values =
      (0..<20).map { stem + "\($0 * 7 % 20)" } + [stem, stem + "\0", String(repeating: "x", count: 100_000)]
    try repository.save(
      contentsOf: values.enumerated().map { number, value in
        var person = Person("\(number)")
        person.email = value
        person.team = value
        return person
      })
    let sorted = values.sorted { String.oracle($0, $1) < 0 }
    #expect(
      try repository.filter(Person.self).sorted(by: \.email).result().map { $0.email.exactText }
        == sorted.map { Optional($0).exactText })
    #expect(
      try repository.filter(Person.self).sorted(by: \.team, inOrder: .descending).result().map(
        \.team.exactText) == sorted.reversed().map(\.exactText))
    #expect(
      try pages(of: 4, repository.filter(Person.self).sorted(by: \.team)).map(\.team.exactText)
        == sorted.map(\.exactText))
    for value in values {
      #expect(try repository.filter(Person.self, where: \.email == value).count() == 1)
      #expect(
        try repository.filter(Person.self, where: \.email > value).count()
          == sorted.filter { String.oracle($0, value) > 0 }.count)
      var person = Person("again")
      person.email = value
      expectError(.uniqueViolation) { try repository.insert(person) }
    }
  }
}
