import PersistenceCore

/// Ends checks that wait for what never comes.
enum Watchdog {
  /// Runs a closure, which is cancelled when it takes too long: whatever it awaits is to end then.
  static func limit(
    seconds: Int = 120, _ body: @escaping @Sendable () async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await body() }
      group.addTask {
        try await Task.sleep(for: .seconds(seconds))
        throw ConformanceFailure(
          "what is awaited", expected: "it comes", found: "nothing for \(seconds) seconds", file: #fileID,
          line: #line)
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }
}

extension RecordUpdates.AsyncIterator {
  /// The next update, which must come.
  mutating func required(
    _ subject: String = "an update", file: StaticString = #fileID, line: UInt = #line
  ) async throws -> RecordUpdate<Model> {
    let update = try await next()
    return try require(update, subject, file: file, line: line)
  }
}
