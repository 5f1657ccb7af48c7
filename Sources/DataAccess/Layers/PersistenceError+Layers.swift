public import PersistenceDriver

extension PersistenceError.Code {
  /// The authoritative layer made a write, but not every other layer did.
  ///
  /// Those layers mark the keys as stale until they are refreshed. Do not repeat the write.
  public static let incompleteWrite = Self(rawValue: "incompleteWrite")
}

extension PersistenceError {
  /// Whether another layer may answer instead: the layer failed, and the query and the credentials are valid.
  var allowsFallback: Bool {
    let codes: Set<Code> = [
      .cancelled, .invalidRequest, .unknownField, .patternTooSlow, .unsupported, .invalidSchema,
      .unauthorized, .incompatibleContext, .insideTransaction,
    ]
    return !codes.contains(code)
  }

  /// Whether the write may have happened despite this error: any error but a rejection.
  ///
  /// A value that is too large, or that cannot be encoded, may be part of the answer.
  var hasUnknownOutcome: Bool {
    let refusals: Set<Code> = [
      .conflict, .duplicateKey, .notFound, .uniqueViolation, .brokenReference, .invalidRequest, .unknownField,
      .patternTooSlow,
      .schemaMismatch, .newerStore, .invalidSchema, .unsupported, .incompatibleContext, .insideTransaction,
      .unauthorized, .untrustedServer,
      .accessDenied, .busy, .readOnly, .storeFull, .missingStore, .notAStore, .incompleteStore, .invalidURL,
    ]
    return !refusals.contains(code)
  }

  /// Whether the change itself is rejected, so that every retry would be.
  var rejectsChange: Bool {
    let codes: Set<Code> = [
      .conflict, .duplicateKey, .notFound, .uniqueViolation, .brokenReference, .invalidRequest,
      .valueTooLarge, .encodingFailed,
      .unknownField, .invalidSchema, .unsupported, .incompatibleContext,
    ]
    return codes.contains(code)
  }

  /// Whether the change may be accepted later as it is: the connection, the token, the certificate or the version of
  /// the server changes.
  var mayPass: Bool {
    isRetryable || [.unauthorized, .untrustedServer, .schemaMismatch, .newerStore].contains(code)
  }

  /// Whether a change met another state than expected.
  var isConflict: Bool { [.conflict, .duplicateKey, .notFound].contains(code) }

  static func timedOut(_ layer: DataSourceLayer, after timeout: Duration) -> PersistenceError {
    PersistenceError(
      .timedOut,
      "the \(layer.rawValue) layer did not answer within \(timeout); a write may have happened")
  }

  /// No layer returned a complete answer.
  static func noAnswer(_ failures: [LayerFailure], incompleteLayers: [DataSourceLayer]) -> PersistenceError {
    var reasons = failures.map { "the \($0.layer.rawValue) layer: \($0.error.message)" }
    reasons += incompleteLayers.map { "the \($0.rawValue) layer holds only a part of the answer" }
    let first = failures.first { $0.layer == .remote } ?? failures.first
    var error = first?.error ?? PersistenceError(.unreachable, "")
    error.message = "no layer could answer: " + reasons.joined(separator: "; ")
    return error
  }

  /// A write that some layers missed.
  static func incompleteWrite(_ failures: [LayerFailure], doneIn layer: DataSourceLayer) -> PersistenceError {
    let reasons = failures.map {
      "the \($0.layer.rawValue) layer failed (\($0.error.code.rawValue): \($0.error.message))"
    }
    return PersistenceError(
      .incompleteWrite,
      "the \(layer.rawValue) layer made the write, but " + reasons.joined(separator: ", and ")
        + "; do not repeat the write, since stale objects are refreshed by the next read",
      model: failures.first?.error.model, key: failures.first?.error.key)
  }
}
