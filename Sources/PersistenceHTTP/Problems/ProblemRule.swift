package import PersistenceDriver
import PersistenceDriverSupport

/// The HTTP status and text of an error code.
struct ProblemRule {
  let status: Int
  /// The fixed text, for errors whose message may name files, engines or other requests.
  let detail: String?

  private init(_ status: Int, _ detail: String? = nil) {
    self.status = status
    self.detail = detail
  }

  /// The rule for errors that a client cannot correct.
  static let hidden = ProblemRule(500, "the server could not complete the request; its log has the reason")

  /// The rules; any other code is ``hidden``.
  ///
  /// Codes without a fixed text are errors of the client. Their messages name models, fields, keys and values
  /// that the client sent or may read.
  static let rules: [PersistenceError.Code: ProblemRule] = [
    .duplicateKey: ProblemRule(409), .uniqueViolation: ProblemRule(409), .brokenReference: ProblemRule(409),
    .notFound: ProblemRule(404),
    .conflict: ProblemRule(412), .unknownField: ProblemRule(400), .invalidRequest: ProblemRule(400),
    .invalidSchema: ProblemRule(400), .schemaMismatch: ProblemRule(409),
    .newerStore: ProblemRule(409), .patternTooSlow: ProblemRule(422),
    .valueTooLarge: ProblemRule(422, "a value or key is too long for this store"),
    .unsupported: ProblemRule(422, "this store does not support that"),
    .readOnly: ProblemRule(403, "this store is read-only"),
    .unauthorized: ProblemRule(403), .batchReused: ProblemRule(422),
    .busy: ProblemRule(503, "the store is busy; try again"),
    .timedOut: ProblemRule(
      503,
      "the request timed out; its changes may still be written, so send a batch again with the same id"
    ),
    .outcomeUnknown: ProblemRule(
      500, "the changes may or may not have been written, so send a batch again with the same id"),
    .closed: ProblemRule(503, "the store is closed"),
    .incompleteStore: ProblemRule(503, "the store is not ready"),
    .storeFull: ProblemRule(507, "the store is full"),
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
