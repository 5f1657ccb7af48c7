import PersistenceDriver

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
  /// the server changes, or its store opens again or is complete.
  var mayPass: Bool {
    let codes: Set<Code> = [
      .unauthorized, .untrustedServer, .schemaMismatch, .newerStore, .closed, .incompleteStore,
    ]
    return isRetryable || codes.contains(code)
  }

  /// Whether a change met another state than expected.
  var isConflict: Bool { [.conflict, .duplicateKey, .notFound].contains(code) }
}
