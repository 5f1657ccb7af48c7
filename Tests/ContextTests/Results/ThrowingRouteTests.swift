import ContextTestSupport
import PersistenceCore
import Synchronization
import Testing

@Suite("R4: reading that fails")
struct ThrowingRouteTests {
  /// A store of 400 accounts, seen through a context that fails where it is told to.
  private func observed(
    _ context: ContextUnderTest, handler: (@Sendable (PersistenceError) -> Void)? = nil
  ) throws -> (Repository, ObservedContext) {
    let inner = try context.makeStore().open()
    try inner.save(contentsOf: (1...400).map { Account($0, balance: $0 % 10) })
    let observed = ObservedContext(try inner.storage, monitoring: Monitoring(readFailureHandler: handler))
    return (Repository(observed), observed)
  }

  @Test(
    "R4 forEach, withCursor and stream give every model, as a plain for does", arguments: ContextUnderTest.all
  )
  func routes(context: ContextUnderTest) async throws {
    let (repository, _) = try observed(context)
    let result = try repository.filter(Account.self).sorted(by: \.balance).result()
    let expected = Array(result)
    #expect(expected.count == 400)
    var visited: [Account] = []
    try result.forEach { visited.append($0) }
    #expect(visited == expected)
    let walked = try result.withCursor { cursor in
      var walked: [Account] = []
      while let account = try cursor.next() { walked.append(account) }
      let isOver = try cursor.next() == nil
      #expect(isOver)
      return walked
    }
    #expect(walked == expected)
    var streamed: [Account] = []
    for try await account in result.stream { streamed.append(account) }
    #expect(streamed == expected)
    #expect(try result.checkedCount() == 400)
  }

  @Test(
    "R4 a failure on a later page is thrown by the throwing routes, naming model and store, never skipped",
    arguments: ContextUnderTest.all)
  func later(context: ContextUnderTest) async throws {
    let (repository, observed) = try observed(context)
    let result = try repository.filter(Account.self).result()
    observed.fail(afterRows: 150)
    var seen = 0
    let error = expectError(.inputOutput) { try result.forEach { _ in seen += 1 } }
    #expect(error?.model == "Account" && error?.location == observed.location)
    #expect(seen >= 128 && seen < 400)
    observed.fail(afterRows: 150)
    expectError(.inputOutput) { try result.withCursor { cursor in while try cursor.next() != nil {} } }
    observed.fail(afterRows: 150)
    await #expect(throws: PersistenceError.self) { for try await _ in result.stream {} }
    // The next try succeeds where the medium has recovered: nothing was lost.
    observed.fail(afterRows: nil)
    var again = 0
    try result.forEach { _ in again += 1 }
    #expect(again == 400)
  }

  @Test("R4 a cursor tries the same page again after a failure", arguments: ContextUnderTest.all)
  func retry(context: ContextUnderTest) throws {
    let (repository, observed) = try observed(context)
    let result = try repository.filter(Account.self).result()
    try result.withCursor { cursor in
      var ids: [Int] = []
      observed.fail(afterRows: 10)
      for _ in 0..<128 { if let account = try cursor.next() { ids.append(account.id) } }
      do {
        _ = try cursor.next()
        Issue.record("the failure was not thrown")
      } catch {
        #expect((error as? PersistenceError)?.code == .inputOutput)
      }
      observed.fail(afterRows: nil)
      while let account = try cursor.next() { ids.append(account.id) }
      #expect(ids == Array(1...400))
    }
  }

  @Test("R4 a failure on the first page is thrown by fetch", arguments: ContextUnderTest.all)
  func first(context: ContextUnderTest) throws {
    let (repository, observed) = try observed(context)
    observed.fail(afterRows: 0)
    expectError(.inputOutput) { try repository.fetch(Account.self) }
    observed.fail(afterRows: 100, with: .damaged("a record is damaged"))
    expectError(.damaged) { try repository.filter(Account.self).result() }
    observed.fail(afterRows: nil)
    #expect(try repository.fetch(Account.self).count == 400)
  }

  @Test("R4 with a handler, a plain for calls it once and ends", arguments: ContextUnderTest.all)
  func handler(context: ContextUnderTest) throws {
    let failures = Failures()
    let (repository, observed) = try observed(context) { failure in
      failures.codes.withLock { $0.append(failure.code) }
    }
    let result = try repository.filter(Account.self).result()
    observed.fail(afterRows: 200)
    var seen = 0
    for _ in result { seen += 1 }
    #expect(failures.codes.withLock { $0 } == [.inputOutput])
    #expect(seen >= 128 && seen < 400)
  }

  private final class Failures: Sendable {
    let codes = Mutex<[PersistenceError.Code]>([])
  }

  #if os(Linux) || os(macOS)
    @Test("R4 without a handler, a plain for stops the program with the error's message")
    func stops() async throws {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let inner = Repository(MemoryContext())
        try inner.save(contentsOf: (1...400).map { Account($0, balance: $0) })
        let observed = ObservedContext(try inner.storage)
        let result = try Repository(observed).filter(Account.self).result()
        observed.fail(afterRows: 200, with: .damaged("page 900 is damaged"))
        for _ in result {}
      }
      let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(message.contains("page 900 is damaged") && message.contains("model Account"))
    }
  #endif

  @Test("R4 a task that is cancelled ends its stream with CancellationError", arguments: ContextUnderTest.all)
  func cancellation(context: ContextUnderTest) async throws {
    let (repository, _) = try observed(context)
    let result = try repository.filter(Account.self).result()
    let task = Task {
      var seen = 0
      for try await _ in result.stream {
        seen += 1
        if seen == 1 { withUnsafeCurrentTask { $0?.cancel() } }
      }
      return seen
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
