/// A condition did not hold within the time limit of ``until(_:)``.
package struct ConditionTimedOut: Error {}

/// Polls a condition until it holds.
///
/// - Throws: ``ConditionTimedOut`` after 30 seconds, `CancellationError`, and what the condition throws.
package func until(_ condition: () async throws -> Bool) async throws {
  let deadline = ContinuousClock.now + .seconds(30)
  while try await !condition() {
    guard ContinuousClock.now < deadline else { throw ConditionTimedOut() }
    try await Task.sleep(for: .milliseconds(1))
  }
}
