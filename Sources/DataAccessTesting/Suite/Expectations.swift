import PersistenceCore

/// Expects an error with a code.
func expectError<Result>(
  _ code: PersistenceError.Code, subject: String = "", file: StaticString = #fileID, line: UInt = #line,
  _ body: () async throws -> Result
) async throws {
  let expected = "an error of code \(code.rawValue)"
  let result: Result
  do {
    result = try await body()
  } catch {
    if (error as? PersistenceError)?.code == code { return }
    throw DataSourceCheckFailure(subject, expected: expected, found: "\(error)", file: file, line: line)
  }
  throw DataSourceCheckFailure(
    subject, expected: expected, found: "no error, but \(Shown.text(result))", file: file, line: line)
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
