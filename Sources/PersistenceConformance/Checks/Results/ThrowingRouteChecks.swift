import PersistenceCore
import Synchronization
import PersistenceDriverSupport

/// R4: failing reads.
enum ThrowingRouteChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      asynchronous: "forEach, withCursor and stream return the same models as a plain for loop", [.r4], routes
    ),
    ConformanceCheck(
      asynchronous:
        "the throwing routes throw a failure on a later page, naming model and store, and never skip it",
      [.r4], later),
    ConformanceCheck("a cursor retries the same page after a failure", [.r4], retry),
    ConformanceCheck("fetch throws a failure on the first page", [.r4], first),
    ConformanceCheck("with a handler, a plain for loop calls it once and ends", [.r4], handler),
    ConformanceCheck(
      asynchronous: "a cancelled task ends its stream with CancellationError", [.r4], cancellation),
  ]

  /// A store of 400 accounts, read through a context that fails on request.
  private static func observed(
    _ context: ContextUnderTest, handler: (@Sendable (PersistenceError) -> Void)? = nil
  ) throws -> (Repository, ObservedContext) {
    let inner = try context.makeRepository(with: (1...400).map { Account($0, balance: $0 % 10) })
    let observed = ObservedContext(try inner.storage, monitoring: Monitoring(readFailureHandler: handler))
    return (Repository(observed), observed)
  }

  @Sendable private static func routes(_ context: ContextUnderTest) async throws {
    let (repository, _) = try observed(context)
    let result = try repository.filter(Account.self).sorted(by: \.balance).result()
    let expected = Array(result)
    try expect(expected.count, equals: 400)
    var visited: [Account] = []
    try result.forEach { visited.append($0) }
    try expect(visited, equals: expected)
    let read = try result.withCursor { cursor in
      var read: [Account] = []
      while let account = try cursor.next() { read.append(account) }
      let isOver = try cursor.next() == nil
      try expect(isOver)
      return read
    }
    try expect(read, equals: expected)
    var streamed: [Account] = []
    for try await account in result.stream { streamed.append(account) }
    try expect(streamed, equals: expected)
    try expect(result.checkedCount(), equals: 400)
    try expect(result.checkedArray(), equals: expected)
    try expect(result.dropFirst(120).prefix(150).checkedArray(), equals: Array(expected[120..<270]))
  }

  @Sendable private static func later(_ context: ContextUnderTest) async throws {
    let (repository, observed) = try observed(context)
    let result = try repository.filter(Account.self).result()
    observed.fail(afterRows: 150)
    var seen = 0
    let error = try expectError(.inputOutput) { try result.forEach { _ in seen += 1 } }
    try expect(error.model == "Account" && error.location == observed.location)
    try expect(seen >= 128 && seen < 400)
    observed.fail(afterRows: 150)
    try expectError(.inputOutput) { try result.withCursor { cursor in while try cursor.next() != nil {} } }
    observed.fail(afterRows: 150)
    try expectError(.inputOutput, "an array of a result") { try result.checkedArray() }
    observed.fail(afterRows: 150)
    try expectError(.inputOutput, "a page whose end cannot be read") {
      try repository.filter(Account.self).limit(300).page()
    }
    observed.fail(afterRows: 150)
    try await expectAsyncError(.inputOutput, "a stream over a page that cannot be read") {
      for try await _ in result.stream {}
    }
    // The retry succeeds after the medium has recovered.
    observed.fail(afterRows: nil)
    var again = 0
    try result.forEach { _ in again += 1 }
    try expect(again, equals: 400)
  }

  @Sendable private static func retry(_ context: ContextUnderTest) throws {
    let (repository, observed) = try observed(context)
    let result = try repository.filter(Account.self).result()
    try result.withCursor { cursor in
      var ids: [Int] = []
      observed.fail(afterRows: 10)
      for _ in 0..<128 { if let account = try cursor.next() { ids.append(account.id) } }
      // A closure cannot capture the cursor, so `expectError` does not apply.
      var code: PersistenceError.Code?
      do {
        _ = try cursor.next()
      } catch let error as PersistenceError {
        code = error.code
      }
      try expect(code, equals: .inputOutput)
      observed.fail(afterRows: nil)
      while let account = try cursor.next() { ids.append(account.id) }
      try expect(ids, equals: Array(1...400))
    }
  }

  @Sendable private static func first(_ context: ContextUnderTest) throws {
    let (repository, observed) = try observed(context)
    observed.fail(afterRows: 0)
    try expectError(.inputOutput) { try repository.fetch(Account.self) }
    observed.fail(afterRows: 100, with: .damaged("a record is damaged"))
    try expectError(.damaged) { try repository.filter(Account.self).result() }
    observed.fail(afterRows: nil)
    try expect(repository.fetch(Account.self).count, equals: 400)
  }

  @Sendable private static func handler(_ context: ContextUnderTest) throws {
    let codes = Mutex<[PersistenceError.Code]>([])
    let (repository, observed) = try observed(context) { failure in codes.withLock { $0.append(failure.code) }
    }
    let result = try repository.filter(Account.self).result()
    observed.fail(afterRows: 200)
    var seen = 0
    for _ in result { seen += 1 }
    try expect(codes.withLock { $0 }, equals: [.inputOutput])
    try expect(seen >= 128 && seen < 400)
  }

  @Sendable private static func cancellation(_ context: ContextUnderTest) async throws {
    let (repository, _) = try observed(context)
    let result = try repository.filter(Account.self).result()
    let task = CheckExecutor.task {
      var seen = 0
      for try await _ in result.stream {
        seen += 1
        if seen == 1 { withUnsafeCurrentTask { $0?.cancel() } }
      }
      return seen
    }
    do {
      let seen = try await task.value
      throw ConformanceFailure(
        "a stream in a cancelled task", expected: "CancellationError", found: "\(seen) records",
        file: #fileID, line: #line)
    } catch is CancellationError {}
  }
}
