import PersistenceDriver
import PersistenceJSON
import Testing

/// Transactions of many files: all or nothing, nested, with unique values (contract W3, W4).
struct TransactionTests {
  private struct Undo: Error {}
  private let place: TemporaryStore
  private let context: JSONDirectoryContext

  init() throws {
    place = try TemporaryStore()
    context = try place.open()
    try context.save(Films.row(1, "One", "a"), Films.row(2, "Two", "b"))
  }

  @Test("W3 a transaction that throws leaves no trace")
  func undone() throws {
    let other = Films.make("Other")
    #expect(throws: Undo.self) {
      try context.transaction { transaction in
        try transaction.define(other)
        try transaction.insert(Films.row(1, "x"), in: other)
        try transaction.save(Films.row(1, "Uno", "z"))
        #expect(try transaction.titles() == ["Uno", "Two"])
        #expect(try transaction.deleteAll(in: Films.schema) == 2)
        #expect(try transaction.titles() == [])
        throw Undo()
      }
    }
    #expect(try context.rows() == [Films.row(1, "One", "a"), Films.row(2, "Two", "b")])
    #expect(try context.catalog() == [Films.schema])
    #expect(try place.names("") == [Films.folder, ".persistence"].sorted())
  }

  @Test("W3 a nested transaction that throws rolls back only its own part")
  func nested() throws {
    let other = Films.make("Other")
    try context.transaction { transaction in
      try transaction.save(Films.row(1, "Uno", "c"))
      #expect(throws: Undo.self) {
        try transaction.nested {
          try transaction.define(other)
          try transaction.save(Films.row(1, "Eins", "b2"))
          try transaction.insert(Films.row(3, "Three", "a"))
          #expect(try transaction.delete(Films.key(2), in: Films.schema))
          try transaction.nested { try transaction.save(Films.row(4, "Four", "b")) }
          throw Undo()
        }
      }
      #expect(try transaction.titles() == ["Uno", "Two"])
      // The values are taken, or free, as before the nested part.
      #expect(throws: PersistenceError.self) { try transaction.save(Films.row(5, "Five", "c")) }
      #expect(throws: PersistenceError.self) { try transaction.save(Films.row(5, "Five", "b")) }
      try transaction.save(Films.row(5, "Five", "a"))
    }
    #expect(try context.titles() == ["Uno", "Two", "Five"])
    #expect(try context.catalog() == [Films.schema])
  }

  @Test("W4 unique values are exchanged, freed and taken within one transaction")
  func uniqueValues() throws {
    try context.transaction { transaction in
      #expect(throws: PersistenceError.self) { try transaction.save(Films.row(1, "One", "b")) }
      try transaction.save(Films.row(1, "One"))
      try transaction.save(Films.row(2, "Two", "a"))
      try transaction.save(Films.row(1, "One", "b"))
      #expect(throws: PersistenceError.self) { try transaction.insert(Films.row(3, "Three", "a")) }
      #expect(try transaction.delete(Films.key(2), in: Films.schema))
      try transaction.insert(Films.row(3, "Three", "a"))
      try transaction.insert(Films.row(4, "Four"))
      try transaction.insert(Films.row(5, "Five"))
    }
    let error = try #require(throws: PersistenceError.self) { try context.save(Films.row(9, "Nine", "a")) }
    #expect(error.code == .uniqueViolation && error.model == "Film" && error.field == "code")
    #expect(error.message.contains("'a'"))
    // Another context has a cache of its own.
    #expect(throws: PersistenceError.self) { try place.open().save(Films.row(9, "Nine", "b")) }
    #expect(try context.rows().map { $0[2] } == [.text("b"), .text("a"), .null, .null])
  }

  @Test("a call on a transaction that has ended throws")
  func ended() throws {
    var kept: (any StorageTransaction)?
    try context.transaction { kept = $0 }
    let transaction = try #require(kept)
    for attempt in [
      { try transaction.define(Films.schema) }, { try transaction.save(Films.row(1, "x")) },
      { _ = try transaction.titles() }, { _ = try transaction.delete(Films.key(1), in: Films.schema) },
      { _ = try transaction.catalog() }, { _ = try transaction.deleteAll(in: Films.schema) },
      { try transaction.nested {} }, { _ = try transaction.row(Films.key(1)) },
    ] as [() throws -> Void] {
      #expect(try #require(throws: PersistenceError.self) { try attempt() }.code == .closed)
    }
  }

  @Test("W3 a transaction of thousands of records is atomic")
  func large() throws {
    try context.transaction { transaction in
      for id in 0..<3_000 as Range<Int64> { try transaction.save(Films.row(id, "\(id)", "code \(id)")) }
    }
    let request = try FetchRequest(
      Films.schema, order: [FieldOrder("id", isDescending: true)], limit: 2, offset: 1)
    #expect(try context.rows(request).map { $0[0] } == [.integer(2998), .integer(2997)])
    #expect(try context.count(FetchRequest(Films.schema)) == 3_000)
    try context.transaction { transaction in
      let rest = try FetchRequest(
        Films.schema, where: .comparison(field: "id", .greaterOrEqual, .integer(10)))
      let count = try transaction.delete(rest)
      #expect(count == 2_990)
    }
    #expect(try place.names(Films.folder).count == 10)
  }
}
