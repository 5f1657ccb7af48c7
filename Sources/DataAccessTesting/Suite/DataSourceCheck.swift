import DataAccess
import PersistenceCore

/// A check of one rule for data sources.
///
/// It throws if a data source breaks the rule.
public struct DataSourceCheck: Sendable {
  /// The rule, in one sentence.
  public let title: String

  private let body: @Sendable (any DataSourceUnderTest) async throws -> Void

  /// Creates a check whose data source throws `PersistenceError` for each error with a code.
  init<Object: PersistentRecord>(
    _ title: String, _ body: @escaping @Sendable (AnyDataSource<Object>) async throws -> Void
  ) {
    self.title = title
    self.body = { provider in
      try await provider.withDataSource(of: Object.self) { source in
        let source = AnyDataSource(source) { error in
          (error as? PersistenceError)
            ?? PersistenceError(provider.code(of: error) ?? .engineFailure, "\(error)")
        }
        try await body(source)
      }
    }
  }

  /// Runs the check on new data sources.
  ///
  /// - Parameter provider: Makes the data sources.
  /// - Throws: ``DataSourceCheckFailure`` if the rule is broken, and unexpected errors of the data source.
  public func run(on provider: some DataSourceUnderTest) async throws {
    try await body(provider)
  }
}

extension DataSourceCheck: Identifiable, CustomStringConvertible {
  /// The unique title.
  public var id: String { title }

  /// The title.
  public var description: String { title }
}

extension DataSourceCheck {
  /// All checks.
  public static let all: [DataSourceCheck] = [
    WritingChecks.all, ConditionalChecks.all, BatchChecks.all, QueryChecks.all, RequestChecks.all,
    PageChecks.all, ValueChecks.all, KeyChecks.all, ConcurrencyChecks.all, CancellationChecks.all,
  ].flatMap { $0 }
}

/// A broken rule: the expected and the actual behavior, and the location of the expectation.
public struct DataSourceCheckFailure: Error, Sendable, CustomStringConvertible {
  /// The subject of the expectation.
  public let subject: String
  /// The expected behavior.
  public let expected: String
  /// The actual behavior.
  public let found: String
  /// The location in the suite.
  public let location: String

  init(_ subject: String, expected: String, found: String, file: StaticString, line: UInt) {
    self.subject = subject
    self.expected = expected
    self.found = found
    location = "\(file):\(line)"
  }

  /// The failure in a few lines.
  public var description: String {
    (subject.isEmpty ? "" : subject + "\n")
      + "  expected: \(expected)\n  found:    \(found)\n  at \(location)"
  }
}

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
