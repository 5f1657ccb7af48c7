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
