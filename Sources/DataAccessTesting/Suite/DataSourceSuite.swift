/// Runs checks on the stores of a provider, one after another, and reports.
public struct DataSourceSuite: Sendable {
  /// One check and how it ended.
  public struct Entry: Sendable {
    /// The check.
    public let check: DataSourceCheck
    /// What broke it; nil where it held.
    public let failure: (any Error)?
  }

  /// The checks that are run.
  public var checks: [DataSourceCheck]

  /// Makes a suite.
  public init(checks: [DataSourceCheck] = DataSourceCheck.all) { self.checks = checks }

  /// Runs the checks; ends early where the task is cancelled.
  ///
  /// - Parameter provider: Makes the stores.
  /// - Returns: How each check ended, in order.
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
