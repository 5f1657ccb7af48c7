import PersistenceDriver

extension Journal {
  /// The error for a failure after which the store may hold the transaction.
  static func unknownOutcome(_ failure: any Error, _ state: String, _ future: String) -> any Error {
    guard var error = (failure as? SystemFailure)?.error ?? failure as? PersistenceError else {
      return failure
    }
    error.code = .outcomeUnknown
    error.message = "\(state): \(error.message); \(future)"
    return error
  }

  /// The error for a staged file that another program has removed during the commit.
  static func lostFile(_ path: String) -> PersistenceError {
    PersistenceError(
      .outcomeUnknown,
      "the transaction is committed, but another program removed the staged file \(path), so a part of it may be lost; "
        + "open the store again, and compare its records")
  }
}

/// Thrown by tests to simulate a kill: no code cleans up after it.
struct StoppedForTest: Error {
  /// The step that did not run.
  var step: String
}
