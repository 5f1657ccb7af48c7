import PersistenceCore
import Testing

/// Expects that a closure throws a `PersistenceError` of a code, and gives it, to be looked at further.
@discardableResult
func expectError<Result>(
  _ code: PersistenceError.Code, _ comment: @autoclosure () -> Comment? = nil,
  at sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Result
) -> PersistenceError? {
  do {
    let result = try body()
    Issue.record(
      "no error but \(result), where \(code.rawValue) was expected; \(comment()?.rawValue ?? "")",
      sourceLocation: sourceLocation)
  } catch let error as PersistenceError {
    #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
    return error
  } catch {
    Issue.record("not a PersistenceError: \(error)", sourceLocation: sourceLocation)
  }
  return nil
}

/// An error of the tests' own, which must come through unchanged.
struct Refusal: Error, Equatable {}
