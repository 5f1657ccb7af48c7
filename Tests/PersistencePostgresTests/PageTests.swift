#if Postgres
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport
  import TestSupport
  import Testing

  @testable import PersistencePostgres

  /// Results that one statement reads, and pages that a session reads ahead.
  @Suite(.withServer) struct PageTests {
    /// How many rows one statement reads at most.
    private let most: Int64 = 1_500

    /// A context with notes, whose size is known.
    private func context(_ scratch: Scratch, notes: Int64) throws -> PostgresContext {
      let context = try scratch.open()
      try context.save((1...notes).map { Scratch.row($0, "text \($0)") })
      #expect(try context.texts().count == Int(notes))
      #expect(try model(context).wholeLimit == Int(most))
      return context
    }

    private func model(_ context: PostgresContext) throws -> PostgresModel {
      let catalog = try #require(context.store.catalog)
      let table = try #require(try context.store.table(StoredName("Note"), in: catalog))
      return try table.model(for: Scratch.schema.get(), store: context.store)
    }

    private func request(upTo id: Int64 = .max) throws -> FetchRequest {
      try FetchRequest(
        Scratch.schema.get(), where: .comparison(field: "id", .lessOrEqual, .integer(id)))
    }

    private func ids(_ results: any StorageResults, _ range: Range<Int>) throws -> [Int64] {
      var ids: [Int64] = []
      _ = try results.read(from: range.lowerBound, limit: range.count) { row in
        if case .integer(let id) = try row.value(at: 0) { ids.append(id) }
      }
      return ids
    }

    /// The numbers of the notes at some positions.
    private func expected(_ range: Range<Int>) -> [Int64] { range.map { Int64($0) + 1 } }

    /// Saves a note, so that a later fetch needs another moment.
    private func change(_ context: PostgresContext) throws {
      try context.save([Scratch.row(1, UUID().uuidString)])
    }

    @Test("R1 R2 a result that one statement reads holds no moment")
    func wholeResults() throws {
      let scratch = try Scratch { $0.pinLimit = 1 }
      let context = try context(scratch, notes: 2_000)
      let held = try (0..<4).map { _ in
        try change(context)
        return try context.fetch(request(upTo: most))
      }
      try context.close()
      for results in held {
        #expect(try results.count() == Int(most))
        #expect(try ids(results, 0..<2_000) == expected(0..<Int(most)))
      }
    }

    @Test("R2 one row more holds a moment, and its request goes to a cursor until its rows fit again")
    func longResults() throws {
      let scratch = try Scratch { $0.pinLimit = 1 }
      let context = try context(scratch, notes: 2_000)
      var held: (any StorageResults)? = try context.fetch(request(upTo: most + 1))
      try change(context)
      #expect(code { _ = try context.fetch(request(upTo: most + 1)) } == .busy)
      #expect(code { _ = try context.fetch(request(upTo: most)) } == .busy, "the shape needs a cursor")
      #expect(try held.map { try ids($0, 0..<2_000) } == expected(0..<Int(most) + 1))
      held = nil
      #expect(try ids(context.fetch(request(upTo: most)), 0..<2_000) == expected(0..<Int(most)))
      held = try context.fetch(FetchRequest(Scratch.schema.get()))
      try change(context)
      #expect(try context.fetch(request(upTo: most)).count() == Int(most), "the shape needs none")
      withExtendedLifetime(held) {}
      try context.close()
    }

    @Test("O4 V7 a limit, an offset and a residual apply to the rows that one statement reads")
    func pages() throws {
      let context = try context(Scratch(), notes: 2_000)
      let schema = try Scratch.schema.get()
      let page = try context.fetch(FetchRequest(schema, limit: 10, offset: 5))
      #expect(try ids(page, 0..<100) == expected(5..<15))
      #expect(try page.count() == 10)
      #expect(try context.fetch(FetchRequest(schema, limit: 10, offset: 1_995)).count() == 5)
      let residual = PredicateNode.text(field: "text", .matches, "^text 1.$", isCaseInsensitive: false)
      let few = PredicateNode.comparison(field: "id", .lessOrEqual, .integer(100))
      let filtered = try context.fetch(
        FetchRequest(schema, where: .all([few, residual]), limit: 3, offset: 2))
      #expect(try ids(filtered, 0..<100) == [12, 13, 14])
      #expect(try filtered.count() == 3)
      try context.close()
    }

    @Test("E4 C2 a fetch by one statement notices that another context has replaced the table")
    func staleCatalogs() throws {
      let scratch = try Scratch()
      let context = try context(scratch, notes: 1_000)
      let other = try scratch.open()
      for round in 1...3 as ClosedRange<Int64> {
        #expect(try !context.texts(request(upTo: 100)).isEmpty)
        try other.transaction { transaction in
          try transaction.drop(Scratch.schema.get())
          try transaction.define(Scratch.schema.get())
          try transaction.save(Scratch.row(round, "new \(round)"))
        }
        #expect(try context.texts(request(upTo: 100)) == ["new \(round)"])
      }
      try other.transaction { try $0.drop(Scratch.schema.get()) }
      #expect(try context.texts(request(upTo: 100)).isEmpty)
      try other.close()
      try context.close()
    }

    @Test("R2 R3 two results of a snapshot that are read alternately have their rows")
    func alternateReads() throws {
      let context = try context(Scratch(), notes: 6_000)
      let snapshot = try context.snapshot()
      let schema = try Scratch.schema.get()
      let (first, second) = (try snapshot.fetch(request()), try snapshot.fetch(FetchRequest(schema)))
      for start in stride(from: 0, to: 6_000, by: 500) {
        let range = start..<start + 500
        #expect(try ids(first, range) == expected(range))
        #expect(try snapshot.find(RecordKey([.integer(Int64(start + 1))]), in: schema) { _ in })
        // The second one skips pages in between, and goes back.
        if start % 1_500 == 0 { #expect(try ids(second, range) == expected(range)) }
        #expect(try snapshot.count(request(upTo: 100)) == 100)
      }
      #expect(try ids(first, 6_000..<6_010).isEmpty)
      #expect(try ids(second, 0..<6_000) == expected(0..<6_000))
      try context.close()
    }

    @Test("R2 no commit shows in the pages of a result, whether they are read ahead or later")
    func laterCommits() throws {
      let context = try context(Scratch(), notes: 6_000)
      let results = try context.fetch(FetchRequest(Scratch.schema.get()))
      var texts: [String] = []
      for start in stride(from: 0, to: 6_000, by: 1_000) {
        _ = try results.read(from: start, limit: 1_000) { row in
          if case .text(let text) = try row.value(at: 1) { texts.append(text) }
        }
        try context.save(stride(from: 1, to: 6_000, by: 7).map { Scratch.row($0, "new \(start)") })
      }
      #expect(texts == (1...6_000).map { "text \($0)" })
      #expect(try results.count() == 6_000)
      try context.close()
    }

    @Test("R2 a result that is released while the server reads ahead leaves its connection usable")
    func releases() throws {
      let scratch = try Scratch { $0.pinLimit = 1 }
      let context = try context(scratch, notes: 6_000)
      for round in 1...20 {
        let results = try context.fetch(FetchRequest(Scratch.schema.get()))
        let range = 0..<(round % 5 + 1) * 1_000
        #expect(try ids(results, range) == expected(range))
        try change(context)
      }
      #expect(try context.count(request()) == 6_000)
      let open =
        "SELECT 1 FROM pg_stat_activity WHERE xact_start IS NOT NULL AND pid <> pg_backend_pid() "
        + "AND application_name = '\(scratch.configuration.schema)'"
      try eventually("no transaction is open") { try scratch.run(open).first?.count == 0 }
      // A context that is closed lets its results read on, and release their connection.
      let last = try context.fetch(FetchRequest(Scratch.schema.get()))
      #expect(try ids(last, 0..<3_000) == expected(0..<3_000))
      try context.close()
      #expect(try ids(last, 3_000..<6_000) == expected(3_000..<6_000))
    }

    @Test("R5 R2 an interrupted find cancels the page that the server reads ahead, and the result goes on")
    func interruptions() throws {
      let context = try context(Scratch(), notes: 6_000)
      let snapshot = try context.snapshot()
      let schema = try Scratch.schema.get()
      let results = try snapshot.fetch(FetchRequest(schema))
      for start in stride(from: 0, to: 6_000, by: 3_000) {
        let range = start..<start + 3_000
        #expect(try ids(results, range) == expected(range))
        let interruption = ReadInterruption(atCheck: 1, PersistenceError(.cancelled, "the caller has gone"))
        let interrupted = code {
          try interruption.run { _ = try snapshot.find(RecordKey([.integer(1)]), in: schema) { _ in } }
        }
        #expect(interrupted == .cancelled)
      }
      #expect(try snapshot.count(FetchRequest(schema)) == 6_000)
      try context.close()
    }
  }
#endif
