import Foundation
import PersistenceDriver
import PersistenceLMDB
import Synchronization
import Testing

@Suite("Many concurrent threads and processes", .timeLimit(.minutes(15)))
struct CrowdTests {
  private static let threads = 8

  /// Runs a closure repeatedly in several threads until another one returns; returns the first error.
  private static func crowd(
    during body: () async throws -> Void, _ call: @escaping @Sendable () throws -> Void
  ) async throws -> String? {
    let isOver = Atomic(false)
    let calls = Atomic(0)
    let failure = Mutex<String?>(nil)
    let group = DispatchGroup()
    for _ in 0..<threads {
      group.enter()
      Thread.detachNewThread {
        defer { group.leave() }
        while !isOver.load(ordering: .relaxed) {
          do {
            try call()
            calls.wrappingAdd(1, ordering: .relaxed)
          } catch {
            return failure.withLock { $0 = $0 ?? "\(error)" }
          }
        }
      }
    }
    defer { isOver.store(true, ordering: .relaxed) }
    try await body()
    isOver.store(true, ordering: .relaxed)
    await withCheckedContinuation { continuation in
      group.notify(queue: .global()) { continuation.resume() }
    }
    #expect(calls.load(ordering: .relaxed) > threads)
    return failure.withLock(\.self)
  }

  @Test("R2 threads that create and release snapshots beside a writer do not deadlock")
  func snapshots() async throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open(LMDBConfiguration(synchronization: .off))
    try context.save((0..<20).map { ("\($0)", nil) }, schema)
    let failure = try await Self.crowd(
      during: { for number in 0..<3_000 { try context.save([("\(number % 20)", "\(number)")], schema) } },
      {
        let keys = try context.fetch(FetchRequest(schema, limit: 1)).keys()
        if keys != ["0"] { throw PersistenceError.damaged("\(keys)") }
      })
    #expect(failure == nil)
  }

  @Test("C2 reading threads continue when another process grows the store beyond their map")
  func growing() async throws {
    let scratch = try Scratch(sharedAs: "growing", by: getpid())
    let schema = try Scratch.schema()
    let context = try scratch.open(LMDBConfiguration(mapSize: 1 << 20))
    try context.save([("kept", "text")], schema)
    let failure = try await Self.crowd(
      during: {
        try await #require(
          processExitsWith: .success,
          performing: {
            let scratch = try Scratch(sharedAs: "growing", by: getppid())
            let schema = try Scratch.schema()
            let large = try scratch.open(LMDBConfiguration(mapSize: 32 << 20))
            let text = String(repeating: "t", count: 1_000)
            for part in 0..<5 {
              try large.save((0..<1_000).map { ("\(part * 1_000 + $0)", text) }, schema)
            }
            try large.close()
          })
        try await Task.sleep(for: .milliseconds(100))
      },
      { if try context.count(FetchRequest(schema)) < 1 { throw PersistenceError.damaged("nothing is left") } }
    )
    #expect(failure == nil)
    #expect(try context.count(FetchRequest(schema)) == 5_001)
  }

  @Test("W5 a store opens after a process that used every reader slot was killed")
  func deadReaders() async throws {
    let scratch = try Scratch(sharedAs: "places", by: getpid())
    let schema = try Scratch.schema()
    // It stays open without reading, so the reader table does not change.
    let idle = try scratch.open(LMDBConfiguration(maximumReaders: 8))
    try idle.save([("kept", "text")], schema)
    try await #require(
      processExitsWith: .signal(SIGKILL),
      performing: {
        let scratch = try Scratch(sharedAs: "places", by: getppid())
        let schema = try Scratch.schema()
        let context = try scratch.open()
        var results: [any StorageResults] = []
        do {
          while true {
            try context.save([("\(results.count)", nil)], schema)
            results.append(try context.fetch(FetchRequest(schema)))
          }
        } catch let error as PersistenceError where error.code == .busy {}
        #expect(results.count >= 4)
        kill(getpid(), SIGKILL)
      })
    try await #require(
      processExitsWith: .success,
      performing: {
        let scratch = try Scratch(sharedAs: "places", by: getppid())
        let context = try scratch.open()
        let kept = try context.text("kept", try Scratch.schema())
        #expect(kept == .text("text"))
      })
    try idle.close()
  }

  @Test("C2 a process that becomes idle leaves reader slots for other processes")
  func restingReaders() async throws {
    let scratch = try Scratch(sharedAs: "resting", by: getpid())
    let schema = try Scratch.schema()
    let context = try scratch.open(LMDBConfiguration(maximumReaders: 8))
    try context.save([("kept", "text")], schema)
    let failure = try await Self.crowd(
      during: { try await Task.sleep(for: .milliseconds(200)) },
      {
        do {
          _ = try context.count(FetchRequest(schema))
        } catch let error as PersistenceError where error.code == .busy {
          // Eight threads share eight slots with every process that opens the store.
        }
      })
    #expect(failure == nil)
    try await #require(
      processExitsWith: .success,
      performing: {
        let scratch = try Scratch(sharedAs: "resting", by: getppid())
        let context = try scratch.open()
        let results = try (0..<3).map { number in
          try context.save([("\(number)", nil)], Scratch.schema())
          return try context.fetch(FetchRequest(Scratch.schema()))
        }
        let counts = try results.map { try $0.count() }
        #expect(counts == [2, 3, 4])
      })
    try context.close()
  }
}
