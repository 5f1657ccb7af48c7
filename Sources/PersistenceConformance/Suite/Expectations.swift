import PersistenceCore

func expect(
  _ condition: @autoclosure () throws -> Bool, _ subject: @autoclosure () -> String = "",
  file: StaticString = #fileID, line: UInt = #line
) throws {
  guard try located(condition, subject, file, line) else {
    let what = compared(file, line) ?? "the condition of line \(line)"
    throw ConformanceFailure(
      subject(), expected: "\(what) is true", found: "false", deed: "\(what) is false", file: file,
      line: line)
  }
}

/// The expression that an expectation is about, quoted; nil if the source cannot be read.
private func compared(_ file: StaticString, _ line: UInt) -> String? {
  CheckSource.expression(in: CheckSource.statement("\(file)", Int(line))).map { "`\(Shown.text($0))`" }
}

/// Evaluates what an expectation is about; an error of the context gets the case and the line.
private func located<Value>(
  _ value: () throws -> Value, _ subject: () -> String, _ file: StaticString, _ line: UInt
) throws -> Value {
  CheckTrace.note(file, line)
  do {
    return try value()
  } catch let error as PersistenceError {
    let what = compared(file, line) ?? "the call in line \(line)"
    throw ConformanceFailure(
      subject(), expected: "no error", found: "\(error)", deed: "\(what) threw `\(error.code.rawValue)`",
      file: file, line: line)
  }
}

/// Expects two values to be equal.
func expect<Value: Equatable>(
  _ found: @autoclosure () throws -> Value, equals expected: @autoclosure () throws -> Value,
  _ subject: @autoclosure () -> String = "", file: StaticString = #fileID, line: UInt = #line
) throws {
  let (found, expected) = (
    try located(found, subject, file, line), try located(expected, subject, file, line)
  )
  guard found != expected else { return }
  let (left, right) = Shown.difference(expected, found)
  let named = subject()
  let what = compared(file, line) ?? (named.isEmpty ? "the value in line \(line)" : named)
  throw ConformanceFailure(
    named, expected: left, found: right,
    deed: "\(what) is \(Shown.clause(right)), not \(Shown.clause(left))", file: file, line: line)
}

/// Expects an error with a code, and returns it for further checks.
@discardableResult
func expectError<Result>(
  _ code: PersistenceError.Code, _ subject: @autoclosure () -> String = "", file: StaticString = #fileID,
  line: UInt = #line, _ body: () throws -> Result
) throws -> PersistenceError {
  func failure(_ found: String, _ deed: String) -> ConformanceFailure {
    ConformanceFailure(
      subject(), expected: "an error of code \(code.rawValue)", found: found,
      deed: "the call \(deed), and must throw `\(code.rawValue)`", file: file, line: line)
  }
  CheckTrace.note(file, line)
  let result: Result
  do {
    result = try body()
  } catch let error as PersistenceError where error.code == code {
    return error
  } catch let failure as ConformanceFailure {
    throw failure
  } catch {
    let name = (error as? PersistenceError)?.code.rawValue ?? "\(type(of: error))"
    throw failure("\(error)", "threw `\(name)`")
  }
  if result is Void { throw failure("no error", "returned without an error") }
  throw failure("no error, but \(Shown.text(result))", "returned \(Shown.clause(Shown.text(result)))")
}

/// Expects each of several calls to throw an error with a code, and returns the errors for further checks.
@discardableResult
func expectErrors(
  _ code: PersistenceError.Code, _ subject: @autoclosure () -> String = "", file: StaticString = #fileID,
  line: UInt = #line, calls: (() throws -> Any?)...
) throws -> [PersistenceError] {
  try calls.enumerated().map { number, call in
    let what = [subject(), "call \(number + 1)"].filter { !$0.isEmpty }.joined(separator: ", ")
    return try expectError(code, what, file: file, line: line, call)
  }
}

/// Expects an asynchronous call to throw an error with a code.
func expectAsyncError<Success>(
  _ code: PersistenceError.Code, _ subject: String = "", file: StaticString = #fileID, line: UInt = #line,
  _ body: () async throws -> Success
) async throws {
  let result: Result<Success, any Error>
  do {
    result = .success(try await body())
  } catch {
    result = .failure(error)
  }
  try expectError(code, subject, file: file, line: line) { try result.get() }
}

/// Expects an error to be rethrown unchanged.
func expectThrows<Failure: Error & Equatable, Result>(
  _ error: Failure, _ subject: @autoclosure () -> String = "", file: StaticString = #fileID,
  line: UInt = #line, _ body: () throws -> Result
) throws {
  CheckTrace.note(file, line)
  var found = "no error"
  do {
    _ = try body()
  } catch let thrown as Failure where thrown == error {
    return
  } catch let failure as ConformanceFailure {
    throw failure
  } catch {
    found = "\(error)"
  }
  throw ConformanceFailure(
    subject(), expected: "the error that the closure threw", found: found,
    deed: "the error that a closure threw became \(Shown.clause(found))", file: file, line: line)
}

/// Returns a value that must not be nil.
func require<Value>(
  _ value: @autoclosure () throws -> Value?, _ subject: @autoclosure () -> String = "",
  file: StaticString = #fileID, line: UInt = #line
) throws -> Value {
  guard let value = try located(value, subject, file, line) else {
    let what = compared(file, line) ?? "the value in line \(line)"
    throw ConformanceFailure(
      subject(), expected: "a value", found: "nil", deed: "\(what) is nil", file: file, line: line)
  }
  return value
}

/// An error of the suite, which a context must rethrow unchanged.
struct SuiteError: Error, Equatable {}

/// Formats values as text of readable length.
enum Shown {
  private static let limit = 300

  static func text(_ value: some Any) -> String {
    let text = String(describing: value)
    return text.count > limit ? text.prefix(limit) + "… (\(text.count) characters)" : text
  }

  /// The beginning of a text, on one line.
  static func clause(_ text: String) -> String {
    let line = text.replacing("\n", with: " ")
    return line.count > 100 ? line.prefix(100) + "…" : line
  }

  /// Formats two values; for long lists, only the first difference.
  static func difference(_ expected: some Any, _ found: some Any) -> (String, String) {
    guard let left = expected as? [Any], let right = found as? [Any] else {
      return (text(expected), text(found))
    }
    let same = zip(left, right).prefix { String(describing: $0.0) == String(describing: $0.1) }.count
    guard same > 0 || left.count > 4 || right.count > 4 else { return (text(expected), text(found)) }
    func place(_ list: [Any]) -> String {
      let item = same < list.count ? text(list[same]) : "the end"
      return "\(list.count) items, number \(same): \(item)"
    }
    return (place(left), place(right))
  }
}
