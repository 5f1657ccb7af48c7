/// One rule of asynchronous stores, as a value: run it on a store, and it throws where the rule is broken.
public struct DataSourceCheck: Sendable {
  /// What must hold, in one sentence.
  public let title: String

  private let body: @Sendable (DataSourceTestBed) async throws -> Void

  init(_ title: String, _ body: @escaping @Sendable (DataSourceTestBed) async throws -> Void) {
    self.title = title
    self.body = body
  }

  /// Runs the check on fresh stores.
  ///
  /// - Parameter provider: Makes the stores.
  /// - Throws: ``DataSourceCheckFailure`` where the rule is broken, and whatever a store throws where it should not.
  public func run(on provider: some DataSourceUnderTest) async throws {
    try await body(DataSourceTestBed(provider))
  }
}

extension DataSourceCheck: Identifiable, CustomStringConvertible {
  /// The title, which no other check shares.
  public var id: String { title }

  /// The title.
  public var description: String { title }
}

extension DataSourceCheck {
  /// Every check.
  public static let all: [DataSourceCheck] = [
    WritingChecks.all, ConditionalChecks.all, BatchChecks.all, QueryChecks.all, RequestChecks.all,
    PageChecks.all,
    ValueChecks.all, KeyChecks.all, ConcurrencyChecks.all, CancellationChecks.all,
  ].flatMap { $0 }
}
