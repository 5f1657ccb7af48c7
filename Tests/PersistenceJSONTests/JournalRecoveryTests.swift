import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import Testing

@testable import PersistenceJSON

/// Transactions that stop at each step of the journal, and the store afterwards (contract W3, W5).
struct JournalRecoveryTests {
  private static let other = Films.make("Other")
  private static let before = [Films.row(1, "One", "a"), Films.row(2, "Two", "b")]
  private static let after = [Films.row(1, "Uno", "b"), Films.row(3, "Three", "c")]

  private static func prepare(_ place: TemporaryStore) throws {
    let context = try place.open()
    try context.save(before[0], before[1])
    try context.close()
  }

  /// Changes one record, deletes one, adds one, and adds one to a model that is new.
  static func work(_ context: JSONDirectoryContext) throws {
    try context.transaction { transaction in
      try transaction.define(other)
      _ = try transaction.delete(Films.key(2), in: Films.schema)
      for row in after { try transaction.save(row) }
      try transaction.save(Films.row(9, "Nine"), in: other)
    }
  }

  /// Whether the store holds all of the transaction or nothing; anything else fails the test.
  private static func holdsAll(_ reader: any StorageReader) throws -> Bool {
    let films = try reader.rows()
    let others = try reader.rows(of: other)
    let isAll = films == after && others == [Films.row(9, "Nine")]
    let isNothing = films == before && others.isEmpty
    #expect(isAll || isNothing, "torn: \(films) \(others)")
    return isAll
  }

  /// The names of all steps of the transaction, in order.
  private static func steps(_ synchronization: JSONDirectoryConfiguration.Synchronization) throws -> [String]
  {
    let place = try TemporaryStore()
    try prepare(place)
    let recorder = StepRecorder()
    try work(place.open(synchronization) { recorder.note($0) })
    return recorder.steps
  }

  private static func requireClean(_ place: TemporaryStore) throws {
    #expect(try place.names(".persistence/stage") == [])
    #expect(try place.names(".persistence/journal") == [])
    #expect(try place.names(Films.folder).allSatisfy { $0.hasSuffix(".json") })
  }

  @Test(
    "W3 W5 the next open completes or rolls back a transaction that stopped at any step",
    arguments: [true, false])
  func stops(isSynchronized: Bool) throws {
    let synchronization: JSONDirectoryConfiguration.Synchronization = isSynchronized ? .full : .off
    let steps = try Self.steps(synchronization)
    let commit = try #require(steps.firstIndex(of: "journal"))
    #expect(steps.count > 8)
    for (number, step) in steps.enumerated() {
      let place = try TemporaryStore()
      try Self.prepare(place)
      // A living reader of the state before, and one that may not write.
      let bystander = try place.open()
      let snapshot = try bystander.snapshot()
      let reader = try place.openForReading()
      let stopper = StepStopper(at: number)
      let context = try place.open(synchronization) { try stopper.reach($0) }
      #expect(throws: StoppedForTest.self, "\(step)") { try Self.work(context) }
      #expect(try !Self.holdsAll(snapshot), "\(step)")
      // Only a writer can finish a commit; until then its reads see all of it or nothing.
      do {
        let isVisible = try Self.holdsAll(place.openForReading())
        #expect(!isVisible || number > commit, "\(step)")
      } catch let error as PersistenceError {
        #expect(error.code == .readOnly && number > commit, "\(step): \(error)")
      }

      let again = try place.open()
      #expect(try Self.holdsAll(again) == (number > commit), "\(step)")
      #expect(try Self.holdsAll(reader) == (number > commit), "\(step)")
      #expect(try !Self.holdsAll(snapshot), "\(step)")
      try again.save(Films.row(4, "Four", "d"))
      try Self.requireClean(place)
      #expect(try again.row(Films.key(4)) == Films.row(4, "Four", "d"))
      #expect(try !Self.holdsAll(snapshot), "\(step)")
    }
  }

  @Test("W5 the next recovery completes one that stopped at any step")
  func stopsInRecovery() throws {
    let steps = try Self.steps(.off)
    let commit = try #require(steps.firstIndex(of: "journal"))
    for first in (commit + 1)..<steps.count {
      for second in 0..<steps.count {
        let place = try TemporaryStore()
        try Self.prepare(place)
        let stopper = StepStopper(at: first)
        #expect(throws: StoppedForTest.self) { try Self.work(place.open { try stopper.reach($0) }) }
        let other = StepStopper(at: second)
        do {
          _ = try place.open { try other.reach($0) }
        } catch is StoppedForTest {}
        #expect(
          try Self.holdsAll(place.open()), "stopped at \(steps[first]), then at step \(second) of recovery")
        try Self.requireClean(place)
      }
    }
  }

  @Test("W5 after a loss of power, an opening waits for another one that finishes the interrupted commit")
  func openingsTakeTurns() async throws {
    let steps = try Self.steps(.full)
    for last in ["apply 1", "publish"] {
      let place = try TemporaryStore()
      try Self.prepare(place)
      // The version numbers are not synchronized, and so older than the files that are in place.
      let numbers = try place.text(".persistence/sequence")
      let stopper = StepStopper(at: try #require(steps.firstIndex(of: last)))
      #expect(throws: StoppedForTest.self) { try Self.work(place.open(.full) { try stopper.reach($0) }) }
      try place.write(numbers, to: ".persistence/sequence")

      let begins = DispatchSemaphore(value: 0)
      let (opened, wasEarly) = (Flag(), Flag())
      async let first = BlockingThread.run {
        try place.open(.full) { step in
          guard step == "begin" else { return }
          // One for each of the others.
          begins.signal()
          begins.signal()
          // This thread pauses: on a busy machine, a task could pause longer than the others wait.
          Thread.sleep(forTimeInterval: 0.2)
          if opened.isSet.withLock(\.self) { wasEarly.isSet.withLock { $0 = true } }
        }
      }
      async let second = BlockingThread.run {
        begins.wait()
        let context = try place.open(.full)
        opened.isSet.withLock { $0 = true }
        return context
      }
      async let reader = BlockingThread.run {
        begins.wait()
        let context = try place.openForReading()
        opened.isSet.withLock { $0 = true }
        return context
      }
      for context in try await [first, second, reader] { #expect(try Self.holdsAll(context), "\(last)") }
      let didNotWait = wasEarly.isSet.withLock(\.self)
      #expect(!didNotWait, "an opening did not wait (\(last))")
      try Self.requireClean(place)
    }
  }

  @Test("W5 the same context continues after a transaction that stopped")
  func goesOn() throws {
    for number in try Self.steps(.off).indices {
      let place = try TemporaryStore()
      try Self.prepare(place)
      let stopper = StepStopper(at: number)
      let context = try place.open { try stopper.reach($0) }
      #expect(throws: StoppedForTest.self) { try Self.work(context) }
      _ = try Self.holdsAll(context)
      try Self.work(context)
      #expect(try Self.holdsAll(context))
      try Self.requireClean(place)
    }
  }

  @Test("E5 a failure before the commit rolls back; the error of a failure after it reports the commit")
  func failures() throws {
    let steps = try Self.steps(.full)
    let commit = try #require(steps.firstIndex(of: "synchronise journal"))
    for (number, step) in steps.enumerated() {
      let place = try TemporaryStore()
      try Self.prepare(place)
      let stopper = StepStopper(at: number)
      let context = try place.open(.full) { name in
        do {
          try stopper.reach(name)
        } catch {
          errno = ENOSPC
          throw SystemFailure("write the file", name)
        }
      }
      let result = Result { try Self.work(context) }
      // The last steps only tidy up; a failure there is not one of the transaction.
      if case .failure(let failure) = result {
        let error = try #require(failure as? PersistenceError)
        #expect(error.code == (number > commit ? .outcomeUnknown : .storeFull), "\(step)")
        #expect(error.engineError?.code == Int(ENOSPC), "\(step)")
        #expect(error.message.contains("is committed") == (number > commit), "\(step): \(error)")
      }
      if number <= commit {
        #expect(try !Self.holdsAll(context), "\(step)")
        try Self.requireClean(place)
      }
      #expect(try Self.holdsAll(place.open()) == (number > commit), "\(step)")
    }
  }

  @Test(
    "W5 a commit that can neither be flushed nor rolled back is outcomeUnknown, and the next opening completes it"
  )
  func unknownOutcome() throws {
    let place = try TemporaryStore()
    try Self.prepare(place)
    let failing: @Sendable (String) throws -> Void = { name in
      guard ["synchronise journal", "abandon"].contains(name) else { return }
      errno = EIO
      throw SystemFailure("synchronise the folder", name)
    }
    let context = try place.open(.full, step: failing)
    let error = try #require(throws: PersistenceError.self) { try Self.work(context) }
    #expect(error.code == .outcomeUnknown && error.engineError?.code == Int(EIO), "\(error)")
    #expect(!error.isRetryable)
    #expect(try Self.holdsAll(place.open()))
    try Self.requireClean(place)
  }

  @Test("E5 an error about a damaged journal names it, and nothing changes")
  func damagedJournal() throws {
    let place = try TemporaryStore()
    try Self.prepare(place)
    let stopper = StepStopper(named: "begin")
    #expect(throws: StoppedForTest.self) { try Self.work(place.open { try stopper.reach($0) }) }
    let name = try #require(try place.names(".persistence/journal").first)
    let text = try place.text(".persistence/journal/\(name)")
    try place.write("[{]", to: ".persistence/journal/\(name)")
    let error = try #require(throws: PersistenceError.self) { try place.open() }
    #expect(error.code == .damaged && error.message.contains("journal/\(name)"), "\(error)")
    try place.write(
      "[{\"folder\":\"../x\",\"file\":\"y\",\"existed\":false,\"exists\":true}]",
      to: ".persistence/journal/\(name)")
    #expect(try #require(throws: PersistenceError.self) { try place.open() }.code == .damaged)
    try place.write(text, to: ".persistence/journal/\(name)")
    #expect(try Self.holdsAll(place.open()))
  }

  @Test("W5 staged files of one version are never used for another")
  func strangeStage() throws {
    // As after the loss of power: the removal of the journal's entry did not last, what was staged later did.
    let place = try TemporaryStore()
    try Self.prepare(place)
    let stopper = StepStopper(named: "forget")
    #expect(throws: StoppedForTest.self) { try Self.work(place.open { try stopper.reach($0) }) }
    let journal = try #require(try place.names(".persistence/journal").first)
    let entry = try place.text(".persistence/journal/\(journal)")
    try place.open().close()
    let next = StepStopper(named: "journal")
    #expect(throws: StoppedForTest.self) {
      let context = try place.open { try next.reach($0) }
      try context.save(Films.row(5, "Five"), Films.row(6, "Six"), Films.row(7, "Seven"))
    }
    try place.write(entry, to: ".persistence/journal/\(journal)")
    #expect(try Self.holdsAll(place.open()))
  }
}

/// Whether something has happened.
private final class Flag: Sendable {
  let isSet = Lock(false)
}

/// Remembers the steps that were taken.
final class StepRecorder: @unchecked Sendable {  // used by one thread
  private(set) var steps: [String] = []
  func note(_ step: String) { steps.append(step) }
}

/// Stops once, at the step of a number or name, as if the process had been killed.
final class StepStopper: @unchecked Sendable {  // used by one thread
  private let name: String?
  private var rest: Int?

  init(at number: Int) {
    name = nil
    rest = number
  }

  init(named name: String) { self.name = name; rest = 0 }

  func reach(_ step: String) throws {
    guard let left = rest, name == nil || name == step else { return }
    rest = left == 0 ? nil : left - 1
    if left == 0 { throw StoppedForTest(step: step) }
  }
}
