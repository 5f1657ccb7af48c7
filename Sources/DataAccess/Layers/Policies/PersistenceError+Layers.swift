public import PersistenceDriver

extension PersistenceError.Code {
  /// A write was done in the store that decides, and not in every layer below it.
  ///
  /// The layers that lack it are in doubt and are not relied upon until they are refreshed. Writing again is not needed.
  public static let incompleteWrite = Self(rawValue: "incompleteWrite")
}

extension PersistenceError {
  /// Whether another store may answer instead: the store that threw this is at fault, not the question or who asked.
  var allowsFallback: Bool {
    let codes: Set<Code> = [
      .cancelled, .invalidRequest, .unknownField, .patternTooSlow, .unsupported, .invalidSchema,
      .unauthorized,
      .incompatibleContext, .schemaMismatch, .insideTransaction,
    ]
    return !codes.contains(code)
  }

  /// Whether the store that threw this may have done what it was asked for all the same: whether this is anything but a
  /// refusal.
  ///
  /// A value that is too large, or cannot be encoded, may be one of the answer.
  var leavesDoubt: Bool {
    let refusals: Set<Code> = [
      .conflict, .duplicateKey, .notFound, .uniqueViolation, .invalidRequest, .unknownField, .patternTooSlow,
      .schemaMismatch, .invalidSchema, .unsupported, .incompatibleContext, .insideTransaction, .unauthorized,
      .accessDenied, .busy, .readOnly, .storeFull, .missingStore, .notAStore, .incompleteStore, .invalidURL,
    ]
    return !refusals.contains(code)
  }

  /// Whether a change is refused for what it is: sent again as it is, it would be refused again.
  var refusesChange: Bool {
    let codes: Set<Code> = [
      .conflict, .duplicateKey, .notFound, .uniqueViolation, .invalidRequest, .valueTooLarge, .encodingFailed,
      .unknownField, .schemaMismatch, .invalidSchema, .unsupported, .incompatibleContext,
    ]
    return codes.contains(code)
  }

  /// Whether a change met another state than it began with.
  var isConflict: Bool { [.conflict, .duplicateKey, .notFound].contains(code) }

  static func timedOut(_ layer: DataSourceLayer, after timeout: Duration) -> PersistenceError {
    PersistenceError(
      .timedOut,
      "the \(layer.rawValue) store gave no answer within \(timeout); whether a write was done is not known")
  }

  /// No layer gave a complete answer.
  static func noAnswer(_ failures: [LayerFailure], lacking: [DataSourceLayer]) -> PersistenceError {
    var reasons = failures.map { "the \($0.layer.rawValue) store: \($0.error.message)" }
    reasons += lacking.map { "the \($0.rawValue) store does not hold all of what was asked for" }
    let first = failures.first { $0.layer == .remote } ?? failures.first
    var error = first?.error ?? PersistenceError(.unreachable, "")
    error.message = "no layer could answer: " + reasons.joined(separator: "; ")
    return error
  }

  /// A write that some layers lack.
  static func incompleteWrite(_ failures: [LayerFailure], doneIn layer: DataSourceLayer) -> PersistenceError {
    let reasons = failures.map {
      "the \($0.layer.rawValue) store failed (\($0.error.code.rawValue): \($0.error.message))"
    }
    return PersistenceError(
      .incompleteWrite,
      "the write was done in the \(layer.rawValue) store, but " + reasons.joined(separator: ", and ")
        + "; what failed is not relied upon until it is refreshed, and the write need not be made again",
      model: failures.first?.error.model, key: failures.first?.error.key)
  }
}
