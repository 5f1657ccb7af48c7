import DataAccess
import PersistenceCore

/// The data sources of a provider, and expectations for checks.
struct DataSourceTestBed: Sendable {
  private let provider: any DataSourceUnderTest

  init(_ provider: any DataSourceUnderTest) { self.provider = provider }

  func withDataSource<Object: PersistentRecord>(
    of type: Object.Type, _ body: @Sendable (AnyDataSource<Object>) async throws -> Void
  ) async throws {
    let provider = provider
    try await provider.withDataSource(of: type) { source in
      let source = AnyDataSource(source) { error in
        (error as? PersistenceError)
          ?? PersistenceError(provider.code(of: error) ?? .engineFailure, "\(error)")
      }
      try await body(source)
    }
  }

  func code(of error: any Error) -> PersistenceError.Code? {
    (error as? PersistenceError)?.code ?? provider.code(of: error)
  }

  /// Expects an error with one of several codes.
  func expectError<Result>(
    _ codes: PersistenceError.Code..., subject: String = "", file: StaticString = #fileID, line: UInt = #line,
    _ body: () async throws -> Result
  ) async throws {
    let expected = "an error of code " + codes.map(\.rawValue).joined(separator: " or ")
    let result: Result
    do {
      result = try await body()
    } catch {
      if let code = code(of: error), codes.contains(code) { return }
      throw DataSourceCheckFailure(subject, expected: expected, found: "\(error)", file: file, line: line)
    }
    throw DataSourceCheckFailure(
      subject, expected: expected, found: "no error, but \(Shown.text(result))", file: file, line: line)
  }
}

/// Expects a condition.
func expect(
  _ condition: Bool, _ subject: @autoclosure () -> String = "", file: StaticString = #fileID,
  line: UInt = #line
) throws {
  guard !condition else { return }
  throw DataSourceCheckFailure(subject(), expected: "true", found: "false", file: file, line: line)
}

/// Expects two values to be equal.
func expect<Value: Equatable>(
  _ found: Value, equals expected: Value, _ subject: @autoclosure () -> String = "",
  file: StaticString = #fileID, line: UInt = #line
) throws {
  guard found != expected else { return }
  throw DataSourceCheckFailure(
    subject(), expected: Shown.text(expected), found: Shown.text(found), file: file, line: line)
}

/// Text for values, with a readable length.
enum Shown {
  static func text(_ value: some Any) -> String {
    let text = String(describing: value)
    return text.count > 400 ? text.prefix(400) + "… (\(text.count) characters)" : text
  }
}
