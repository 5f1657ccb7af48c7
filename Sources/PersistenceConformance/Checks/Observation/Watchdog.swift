import PersistenceCore

/// Ends checks that would wait forever.
enum Watchdog {
  /// Runs a closure, and cancels it if it takes too long.
  static func limit(seconds: Int = 120, _ body: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await body() }
      group.addTask {
        try await Task.sleep(for: .seconds(seconds))
        throw ConformanceFailure(
          "the awaited result", expected: "it comes", found: "no result for \(seconds) seconds",
          file: #fileID, line: #line)
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }
}

extension RecordUpdates.AsyncIterator {
  /// Returns the next update, which must arrive.
  mutating func required(
    _ subject: String = "an update", file: StaticString = #fileID, line: UInt = #line
  ) async throws -> RecordUpdate<Record> {
    let update = try await next()
    return try require(update, subject, file: file, line: line)
  }
}

extension RecordUpdates.AsyncIterator where Record == Account {
  /// Expects the next update to have these changes and, unless nil, accounts with these ids.
  mutating func expectNext(
    _ changes: ChangeSet, ids: [Int]? = nil, _ subject: String = "an update", file: StaticString = #fileID,
    line: UInt = #line
  ) async throws {
    let update = try await required(subject, file: file, line: line)
    try expect(update.changes, equals: changes, subject, file: file, line: line)
    if let ids { try expect(update.results.map(\.id), equals: ids, subject, file: file, line: line) }
  }
}
