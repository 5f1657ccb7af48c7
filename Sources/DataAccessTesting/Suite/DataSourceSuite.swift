/// Runs checks one after another, and reports the results.
public struct DataSourceSuite: Sendable {
  /// A check and its result.
  public struct Entry: Sendable {
    /// The check.
    public let check: DataSourceCheck
    /// The failure; nil if the check passed.
    public let failure: (any Error)?
  }

  /// The checks to run.
  public var checks: [DataSourceCheck]

  /// Creates a suite.
  public init(checks: [DataSourceCheck] = DataSourceCheck.all) { self.checks = checks }

  /// Runs the checks, until the task is cancelled.
  ///
  /// - Parameter provider: Makes the data sources.
  /// - Returns: The results, in order.
  public func run(on provider: some DataSourceUnderTest) async -> [Entry] {
    var entries: [Entry] = []
    for check in checks where !Task.isCancelled {
      do {
        try await check.run(on: provider)
        entries.append(Entry(check: check, failure: nil))
      } catch {
        entries.append(Entry(check: check, failure: error))
      }
    }
    return entries
  }
}
