import PersistenceCore

func expect(
  _ condition: @autoclosure () throws -> Bool, _ subject: @autoclosure () -> String = "",
  file: StaticString = #fileID, line: UInt = #line
) throws {
  guard try condition() else {
    throw ConformanceFailure(subject(), expected: "true", found: "false", file: file, line: line)
  }
}

/// Expects two values to be equal.
func expect<Value: Equatable>(
  _ found: @autoclosure () throws -> Value, equals expected: @autoclosure () throws -> Value,
  _ subject: @autoclosure () -> String = "", file: StaticString = #fileID, line: UInt = #line
) throws {
  let (found, expected) = (try found(), try expected())
  guard found != expected else { return }
  let (left, right) = Shown.difference(expected, found)
  throw ConformanceFailure(subject(), expected: left, found: right, file: file, line: line)
}

/// Expects an error with a code, and returns it for further checks.
@discardableResult
func expectError<Result>(
  _ code: PersistenceError.Code, _ subject: @autoclosure () -> String = "", file: StaticString = #fileID,
  line: UInt = #line, _ body: () throws -> Result
) throws -> PersistenceError {
  func failure(_ found: String) -> ConformanceFailure {
    ConformanceFailure(
      subject(), expected: "an error of code \(code.rawValue)", found: found, file: file, line: line)
  }
  let result: Result
  do {
    result = try body()
  } catch let error as PersistenceError where error.code == code {
    return error
  } catch {
    throw failure("\(error)")
  }
  throw failure("no error, but \(Shown.text(result))")
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
  var found = "no error"
  do {
    _ = try body()
  } catch let thrown as Failure where thrown == error {
    return
  } catch {
    found = "\(error)"
  }
  throw ConformanceFailure(
    subject(), expected: "the error that the closure threw", found: found, file: file, line: line)
}

/// Returns a value that must not be nil.
func require<Value>(
  _ value: @autoclosure () throws -> Value?, _ subject: @autoclosure () -> String = "",
  file: StaticString = #fileID, line: UInt = #line
) throws -> Value {
  guard let value = try value() else {
    throw ConformanceFailure(subject(), expected: "a value", found: "nil", file: file, line: line)
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
