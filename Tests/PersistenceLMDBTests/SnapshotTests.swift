import Foundation
import PersistenceConformance
import PersistenceDriver
import PersistenceDriverSupport
import Testing

@testable import PersistenceLMDB

@Suite("R2: snapshots")
struct LMDBSnapshotTests {
  private func environment(_ scratch: Scratch) throws -> LMDBSession {
    try LMDBRegistry.open(
      scratch.path, LMDBConfiguration(), ContextMonitor(Monitoring(), location: scratch.path))
  }

  @Test("R2 results of one version share a reader, and later results have another")
  func sharing() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open()
    let session = try environment(scratch)
    try context.save((0..<100).map { ("\($0)", nil) }, schema)
    var results = try (0..<100).map { _ in try context.fetch(FetchRequest(schema)) }
    #expect(session.environment.live == 1)
    try context.save([("new", nil)], schema)
    results += try (0..<100).map { _ in try context.fetch(FetchRequest(schema)) }
    #expect(session.environment.live == 2)
    for (number, result) in results.enumerated() {
      #expect(try result.count() == (number < 100 ? 100 : 101))
      #expect(try result.keys(pages: 64).count == (number < 100 ? 100 : 101))
    }
    results.removeAll()
    #expect(session.environment.live == 0)
  }

  @Test("R2 a live result stays unchanged through many writes")
  func manyWrites() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema(indexes: [IndexSchema(["text"])])
    let context = try scratch.open(LMDBConfiguration(synchronization: .off))
    try context.save((0..<300).map { ("\($0)", "text \($0 % 7)") }, schema)
    let requests = try [
      FetchRequest(schema), FetchRequest(schema, order: [FieldOrder("text", isDescending: true)]),
      FetchRequest(schema, where: .comparison(field: "text", .equal, .text("text 3"))),
    ]
    let expected = try requests.map { try context.keys($0) }
    let results = try requests.map { try context.fetch($0) }
    for round in 0..<60 {
      try context.save((0..<300).map { ("\($0 + round)", "text \(round)") }, schema)
      try context.transaction { _ = try $0.delete(RecordKey([.text("\(round)")]), in: schema) }
    }
    try context.transaction { _ = try $0.deleteAll(in: schema) }
    for (result, keys) in zip(results, expected) {
      #expect(try result.keys() == keys)
      #expect(try result.count() == keys.count)
    }
    #expect(try context.count(FetchRequest(schema)) == 0)
  }

  @Test("R3 a result outlives its context, and its release closes the file")
  func closing() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open()
    try context.save((0..<50).map { ("\($0)", nil) }, schema)
    var result: (any StorageResults)? = try context.fetch(FetchRequest(schema))
    try context.close()
    #expect(try result?.keys().count == 50)
    let second = try scratch.open()
    try second.save([("x", nil)], schema)
    #expect(try result?.keys().count == 50)
    result = nil
    try second.close()
    // A larger map takes effect only after the file was closed, which this proves.
    let third = try scratch.open(LMDBConfiguration(mapSize: 1 << 41))
    #expect(try third.count(FetchRequest(schema)) == 51)
  }

  @Test("R3 C1 threads read one result concurrently, beside lookups")
  func threads() async throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open(LMDBConfiguration(synchronization: .off))
    let keys = (0..<2000).map { "\($0)" }.sorted { TotalOrder.compare($0, $1) < 0 }
    try context.save(keys.map { ($0, "text \($0)") }, schema)
    let result = try context.fetch(FetchRequest(schema))
    try await withThrowingTaskGroup { group in
      for number in 0..<8 {
        group.addTask {
          if number == 7 {
            for round in 0..<50 { try context.save([("new \(round)", nil)], schema) }
          } else if number % 2 == 0 {
            let found = try result.keys(pages: 50 + number)
            #expect(found == keys)
          } else {
            for key in keys {
              let text = try context.text(key, schema)
              #expect(text == .text("text \(key)"))
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("R2 results that many threads take and release beside commits show one state each")
  func churn() async throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let configuration = LMDBConfiguration(synchronization: .off)
    let (context, other) = (try scratch.open(configuration), try scratch.open(configuration))
    let session = try environment(scratch)
    // Each commit gives all records the same text.
    let save: @Sendable (String) throws -> Void = { text in
      try context.save((0..<300).map { ("\($0)", text) }, schema)
    }
    try save("first")
    try await withThrowingTaskGroup { group in
      for number in 0..<16 {
        group.addTask {
          for round in 0..<40 {
            if number == 0, round == 20 { try other.close() }
            let source = number % 4 == 0 && round < 10 ? other : context
            let result: any StorageResults
            do {
              result = try source.fetch(FetchRequest(schema))
            } catch let error as PersistenceError where source === other && error.code == .closed {
              continue
            }
            var texts: Set<PersistentValue> = []
            for part in 0..<3 {
              let count = try result.read(from: 100 * part, limit: 100) { texts.insert(try $0.value(at: 1)) }
              #expect(count == 100)
              if part == 0, round % 8 == number % 8 { try save("\(number) \(round)") }
            }
            #expect(texts.count == 1)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(session.environment.live == 0)
    let (pinned, shared) = session.environment.state.withLock { ($0.pinned, $0.shared.count) }
    #expect(pinned == 0 && shared == 0)
  }

  @Test("C3 a snapshot that finds no free reader leaves no share behind")
  func readersFull() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open(LMDBConfiguration(maximumReaders: 8))
    let session = try environment(scratch)
    var held: [any StorageResults] = []
    var failure: PersistenceError?
    for number in 0..<20 where failure == nil {
      // Each commit makes another version, which no reader is shared with.
      try context.save((0..<200).map { ("\($0)", "\(number)") }, schema)
      do {
        held.append(try context.fetch(FetchRequest(schema)))
      } catch let error as PersistenceError {
        failure = error
      }
    }
    #expect(failure?.code == .busy)
    #expect(held.count > 1)
    held.removeAll()
    #expect(session.environment.live == 0)
    #expect(session.environment.state.withLock { $0.pinned } == 0)
    #expect(try context.fetch(FetchRequest(schema)).count() == 200)
  }

  @Test("a closure that receives rows may read another result of the same snapshot")
  func reentrance() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open()
    try context.save((0..<20).map { ("\($0)", nil) }, schema)
    let (first, second) = (try context.fetch(FetchRequest(schema)), try context.fetch(FetchRequest(schema)))
    var seen = 0
    let read = try first.read(from: 0, limit: 20) { row in
      let key = try row.value(at: 0)
      seen += try second.keys().count
      #expect(try row.value(at: 0) == key)
    }
    #expect(read == 20)
    #expect(seen == 400)
  }

  @Test("C2 the next opening releases the snapshot of a killed process, and reports it")
  func staleReader() async throws {
    let scratch = try Scratch(sharedAs: "stale", by: getpid())
    let schema = try Scratch.schema()
    let context = try scratch.open()
    try context.save([("kept", "text")], schema)
    try await #require(
      processExitsWith: .signal(SIGKILL),
      performing: {
        let scratch = try Scratch(sharedAs: "stale", by: getppid())
        let context = try scratch.open()
        let snapshot = try context.snapshot()
        try withExtendedLifetime(snapshot) {
          let count = try context.count(FetchRequest(Scratch.schema()))
          #expect(count == 1)
          kill(getpid(), SIGKILL)
        }
      })
    let log = LogRecorder()
    let again = try scratch.open(LMDBConfiguration(monitoring: Monitoring(logger: log.logger())))
    #expect(try again.keys(FetchRequest(schema)) == ["kept"])
    #expect(log.lines().contains { $0.contains("recovered") })
  }

  @Test("W6 a writer waits for another process no longer than the timeout")
  func otherWriter() async throws {
    let scratch = try Scratch(sharedAs: "writer", by: getpid())
    let schema = try Scratch.schema()
    let context = try scratch.open(LMDBConfiguration(busyTimeout: .milliseconds(300)))
    try context.save([("kept", "text")], schema)
    async let child = #expect(
      processExitsWith: .success,
      performing: {
        let scratch = try Scratch(sharedAs: "writer", by: getppid())
        let context = try scratch.open()
        try context.transaction { _ in
          try Data().write(to: scratch.folder.appendingPathComponent("writing"))
          while !FileManager.default.fileExists(atPath: scratch.folder.appendingPathComponent("enough").path)
          {
            usleep(1000)
          }
        }
      })
    while !FileManager.default.fileExists(atPath: scratch.folder.appendingPathComponent("writing").path) {
      try await Task.sleep(for: .milliseconds(1))
    }
    let start = ContinuousClock.now
    let error = expectError(.busy) { try context.save([("a", nil)], schema) }
    #expect(error?.isRetryable == true)
    #expect(ContinuousClock.now - start >= .milliseconds(300))
    #expect(try context.keys(FetchRequest(schema)) == ["kept"], "W6 readers do not wait")
    try Data().write(to: scratch.folder.appendingPathComponent("enough"))
    _ = await child
    try context.save([("a", nil)], schema)
    #expect(try context.keys(FetchRequest(schema)) == ["a", "kept"])
  }
}
