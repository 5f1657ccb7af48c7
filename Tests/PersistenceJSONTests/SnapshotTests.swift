import Foundation
import PersistenceDriver
import PersistenceJSON
import Testing

/// Results and snapshots while other contexts, as other processes would, replace files (contract R2, C2).
struct SnapshotTests {
  private let place: TemporaryStore
  private let reader: JSONDirectoryContext
  private let writer: JSONDirectoryContext

  init() throws {
    place = try TemporaryStore()
    reader = try place.open()
    writer = try place.open()
    try writer.save(Films.row(1, "One", "a"), Films.row(2, "Two", "b"), Films.row(3, "Three"))
  }

  @Test("R2 a result shows its version while another context writes")
  func holds() throws {
    let old = try reader.fetch(FetchRequest(Films.schema))
    let snapshot = try reader.snapshot()
    try writer.save(Films.row(1, "Uno", "a"), Films.row(4, "Four"))
    let middle = try reader.fetch(FetchRequest(Films.schema))
    try writer.delete(2)
    try writer.save(Films.row(1, "Eins", "a"))
    try writer.save(Films.row(2, "Zwei", "z"))
    try writer.transaction { _ = try $0.deleteAll(in: Films.schema) }
    for _ in 0..<2 {
      #expect(try old.titles() == ["One", "Two", "Three"])
      #expect(try middle.titles() == ["Uno", "Two", "Three", "Four"])
    }
    #expect(try snapshot.titles() == ["One", "Two", "Three"])
    #expect(try snapshot.row(Films.key(2)) == Films.row(2, "Two", "b"))
    #expect(try snapshot.row(Films.key(4)) == nil)
    #expect(try snapshot.count(FetchRequest(Films.schema)) == 3)
    #expect(try reader.titles() == [])
  }

  @Test("R2 a snapshot shows the models of its version")
  func catalogOfSnapshot() throws {
    let snapshot = try reader.snapshot()
    let other = Films.make("Other")
    try writer.save(Films.row(1, "x"), in: other)
    #expect(try snapshot.catalog() == [Films.schema])
    #expect(try snapshot.rows(of: other) == [])
    #expect(try reader.catalog() == [Films.schema, other])
  }

  @Test("R2 history exists only as long as a reader needs it")
  func history() throws {
    try writer.save(Films.row(1, "Uno", "a"))
    #expect(try place.names(".persistence/history").isEmpty)
    var results: (any StorageResults)? = try reader.fetch(FetchRequest(Films.schema))
    for number in 0..<5 { try writer.save(Films.row(1, "\(number)", "a")) }
    #expect(try place.names(".persistence/history").count == 5)
    #expect(try results?.titles() == ["Uno", "Two", "Three"])
    results = nil
    try writer.save(Films.row(1, "Eins", "a"))
    #expect(try place.names(".persistence/history").isEmpty)
  }

  @Test("R3 a result stays readable after its context is closed")
  func outlives() throws {
    let results = try reader.fetch(FetchRequest(Films.schema))
    try reader.close()
    try reader.close()
    try writer.save(Films.row(1, "Uno", "a"))
    #expect(try results.titles() == ["One", "Two", "Three"])
    #expect(try #require(throws: PersistenceError.self) { try reader.titles() }.code == .closed)
    #expect(try #require(throws: PersistenceError.self) { try reader.snapshot() }.code == .closed)
    #expect(
      try #require(throws: PersistenceError.self) { try reader.save(Films.row(1, "x")) }.code == .closed)
  }

  @Test("C1 C2 R2 concurrent readers and writers on four contexts see only whole transactions")
  func concurrency() throws {
    let place = try TemporaryStore()
    let rounds = 60
    let total: Int64 = 8
    let first = try place.open()
    try first.transaction { transaction in
      try transaction.define(Films.schema)
      for id in 0..<total { try transaction.save(Films.row(id, "0")) }
    }
    let contexts = [first, try place.open(), try place.open(), try place.openForReading()]
    let failures = Failures()
    // Workers 0 and 1 share a context with readers; every transaction sets all titles alike.
    DispatchQueue.concurrentPerform(iterations: 6) { worker in
      do {
        let context = contexts[worker % 4]
        for round in 0..<rounds {
          if worker < 2 {
            try context.transaction { transaction in
              let title = try transaction.titles()[0]
              let next = "\((Int(title) ?? -1) + 1)"
              for id in 0..<total { try transaction.save(Films.row(id, next, "\(id)-\(next)")) }
            }
          } else {
            let key = Films.key(Int64(round) % total)
            if try context.row(key) == nil { failures.note("round \(round): no \(key)") }
            let results = try context.fetch(FetchRequest(Films.schema))
            let titles = try results.titles()
            let again = try results.titles()
            if Set(titles).count != 1 || titles.count != Int(total) || titles != again {
              failures.note("round \(round): \(titles), then \(again)")
            }
          }
        }
      } catch {
        failures.note("worker \(worker): \(error)")
      }
    }
    #expect(failures.all == [])
    #expect(try first.titles() == Array(repeating: "\(2 * rounds)", count: Int(total)))
    #expect(try place.names(".persistence/stage") == [] && place.names(".persistence/journal") == [])
  }

  @Test("W6 readers of the writer's own context do not disturb it while it commits")
  func readersBesideTheWriter() throws {
    // At every step of a commit, another thread reads through the same context.
    let place = try TemporaryStore()
    let failures = Failures()
    let shared = Shared()
    let context = try place.open { step in
      // Not for the readers' own attempts to finish what they take for a dead writer's.
      guard let context = shared.context, Thread.current === shared.writer else { return }
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        do {
          let titles = try context.titles()
          if titles != ["One", "Two"] && titles != ["Uno", "Dos", "Tres"] {
            failures.note("\(step): \(titles)")
          }
        } catch {
          failures.note("\(step): \(error)")
        }
        done.signal()
      }
      if done.wait(timeout: .now() + 10) != .success { failures.note("\(step): the reader waited") }
      // A second writer must still be kept out.
      let other = Result { try place.open(busy: .milliseconds(1)).save(Films.row(7, "Seven")) }
      if case .success = other { failures.note("\(step): a second writer got in") }
    }
    try context.save(Films.row(1, "One"), Films.row(2, "Two"))
    shared.context = context
    shared.writer = Thread.current
    try context.save(Films.row(1, "Uno"), Films.row(2, "Dos"), Films.row(3, "Tres"))
    #expect(failures.all == [])
    #expect(try context.titles() == ["Uno", "Dos", "Tres"])
  }

  @Test("W6 a writer waits for the busy timeout and then throws busy")
  func busy() throws {
    let impatient = try place.open(busy: .milliseconds(50))
    try writer.transaction { _ in
      let start = ContinuousClock.now
      let error = try #require(throws: PersistenceError.self) { try impatient.save(Films.row(9, "x")) }
      #expect(error.code == .busy && error.isRetryable)
      #expect(ContinuousClock.now - start >= .milliseconds(50))
      #expect(
        try #require(throws: PersistenceError.self) { try writer.transaction { _ in } }.code
          == .insideTransaction)
      // Readers do not wait.
      #expect(try impatient.titles() == ["One", "Two", "Three"])
    }
    try impatient.save(Films.row(9, "x"))
  }
}

/// What went wrong on other threads.
final class Failures: @unchecked Sendable {  // guarded by its lock
  private let lock = NSLock()
  private var notes: [String] = []
  var all: [String] { lock.withLock { notes } }
  func note(_ text: String) { lock.withLock { notes.append(text) } }
}

/// A context that its own hook reaches.
final class Shared: @unchecked Sendable {  // set before it is used, by one thread
  weak var context: JSONDirectoryContext?
  var writer: Thread?
}
