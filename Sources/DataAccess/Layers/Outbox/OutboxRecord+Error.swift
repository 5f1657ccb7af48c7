import PersistenceDriver

extension OutboxRecord {
  /// The error of the last attempt, or the reason for setting the entry aside.
  var error: PersistenceError? {
    errorCode.map {
      PersistenceError(PersistenceError.Code(rawValue: $0), errorMessage ?? "refused", model: model)
    }
  }

  mutating func keep(_ error: PersistenceError) {
    (errorCode, errorMessage) = (error.code.rawValue, error.message)
  }
}
