package import PersistenceDriver
import PersistenceDriverSupport

/// The HTTP status and text of an error code.
package struct ProblemRule: Sendable {
  let status: Int
  /// The fixed text, for errors whose message may name files, engines or other requests.
  let detail: String?
  /// The code that a client receives instead; nil for the error's own.
  let code: PersistenceError.Code?

  private init(_ status: Int, _ detail: String? = nil, as code: PersistenceError.Code? = nil) {
    (self.status, self.detail, self.code) = (status, detail, code)
  }

  /// The rule for errors that a client cannot correct.
  static let hidden = ProblemRule(
    500, "the server could not complete the request; its log has the reason", as: .engineFailure)

  /// The rule for errors of the server's connection to its store, whose credentials are not those of the client.
  private static let unreachable = ProblemRule(
    503, "the server cannot reach its store; try again later", as: .unreachable)

  /// The rule for a read whose moment is gone: another read shows the present one.
  private static let interrupted = ProblemRule(
    503, "the store no longer has the state that was being read; try again", as: .busy)

  /// The rules, one for each code of this package; the codes of third-party contexts are ``hidden``.
  ///
  /// Codes without a fixed text are errors of the client. Their messages name models, fields, keys and values
  /// that the client sent or may read.
  package static let rules: [PersistenceError.Code: ProblemRule] = [
    .duplicateKey: ProblemRule(409), .uniqueViolation: ProblemRule(409), .brokenReference: ProblemRule(409),
    .notFound: ProblemRule(404), .unknownModel: ProblemRule(404), .unknownSchema: ProblemRule(428),
    .checkpointExpired: ProblemRule(410),
    .conflict: ProblemRule(412), .unknownField: ProblemRule(400), .invalidRequest: ProblemRule(400),
    .invalidSchema: ProblemRule(400), .schemaMismatch: ProblemRule(409),
    .newerStore: ProblemRule(409), .patternTooSlow: ProblemRule(422),
    .valueTooLarge: ProblemRule(422, "a value or key is too long for this store"),
    .unsupported: ProblemRule(422, "this store does not support that"),
    .readOnly: ProblemRule(403, "this store is read-only"),
    .batchReused: ProblemRule(422),
    .busy: ProblemRule(503, "the store is busy; try again"),
    .timedOut: ProblemRule(
      503,
      "the request timed out; its changes may still be written, so send a batch again with the same id"
    ),
    .outcomeUnknown: ProblemRule(
      500, "the changes may or may not have been written, so send a batch again with the same id"),
    .unreachable: unreachable, .unauthorized: unreachable, .untrustedServer: unreachable,
    .snapshotExpired: interrupted, .changedOutside: interrupted,
    .closed: ProblemRule(503, "the store is closed; try again later", as: .unreachable),
    .incompleteStore: ProblemRule(503, "the store is not ready"),
    .storeFull: ProblemRule(507, "the store is full"),
    .incompatibleContext: hidden, .insideTransaction: hidden, .unknownCase: hidden, .encodingFailed: hidden,
    .cancelled: hidden, .missingStore: hidden, .notAStore: hidden, .damaged: hidden, .accessDenied: hidden,
    .inputOutput: hidden, .invalidURL: hidden, .engineFailure: hidden,
  ]

  /// The title for people, which all problems of a code share.
  static func title(_ code: PersistenceError.Code) -> String {
    switch code {
    case .duplicateKey: "A record with that key exists"
    case .uniqueViolation: "Another record has the unique value"
    case .brokenReference: "A record refers to an absent one"
    case .notFound: "Not found"
    case .conflict: "The record has changed"
    case .unknownField: "There is no such field"
    case .invalidRequest: "The request is invalid"
    case .invalidSchema: "The model is invalid"
    case .schemaMismatch, .newerStore: "The store has another definition of the model"
    case .unknownModel: "The server does not have the model"
    case .unknownSchema: "The server does not know the schema"
    case .unauthorized: "The token is missing or lacks permission"
    case .checkpointExpired: "The changes since the checkpoint are not known any more"
    case .batchReused: "The id of the batch was used for another one"
    case .busy: "Busy"
    case .unreachable: "The store is unreachable"
    case .timedOut: "Timed out"
    case .outcomeUnknown: "The outcome is unknown"
    default: "The server could not complete the request"
    }
  }
}

extension PersistenceError.Code {
  /// The code for a model that the server's store lacks; clients of this package map it to other errors.
  package static let unknownModel = Self(rawValue: "unknownModel")
  /// The code for the digest of a schema that the server does not know; a client of this package sends the schema.
  package static let unknownSchema = Self(rawValue: "unknownSchema")
}
