import PersistenceDriver

/// What a code of an error is over HTTP.
struct ProblemRule {
  /// The status of the answer.
  let status: Int
  /// What is said of it, where the error's own message must not be: it may name files, engines or other requests.
  let detail: String?

  private init(_ status: Int, _ detail: String? = nil) {
    self.status = status
    self.detail = detail
  }

  /// For errors that no client can do anything about.
  static let hidden = ProblemRule(500, "the server could not carry the request out; its log says why")

  /// The rules; any other code is ``hidden``.
  ///
  /// Codes without a sentence of their own are those of mistakes of a client, whose messages name models, fields, keys
  /// and values that the client itself sent or may read.
  static let rules: [PersistenceError.Code: ProblemRule] = [
    .duplicateKey: ProblemRule(409), .uniqueViolation: ProblemRule(409), .notFound: ProblemRule(404),
    .conflict: ProblemRule(412), .unknownField: ProblemRule(400), .invalidRequest: ProblemRule(400),
    .invalidSchema: ProblemRule(400), .schemaMismatch: ProblemRule(409), .patternTooSlow: ProblemRule(422),
    .valueTooLarge: ProblemRule(422, "a value or key is longer than this store can keep"),
    .unsupported: ProblemRule(422, "this store cannot do that"),
    .readOnly: ProblemRule(403, "this store may only be read"),
    .unauthorized: ProblemRule(403),
    .busy: ProblemRule(503, "the store is busy; try again"),
    .timedOut: ProblemRule(
      503,
      "the request took longer than it may; what it was to write may still be written, so send a batch with its id again"
    ),
    .closed: ProblemRule(503, "the store is closed"),
    .incompleteStore: ProblemRule(503, "the store is not ready"),
    .storeFull: ProblemRule(507, "the store is full"),
  ]

  /// A sentence for people, the same for all problems of a code.
  static func title(_ code: PersistenceError.Code) -> String {
    switch code {
    case .duplicateKey: "A record of that key exists"
    case .uniqueViolation: "A unique value stands in another record"
    case .notFound: "Not found"
    case .conflict: "The record has changed"
    case .unknownField: "There is no such field"
    case .invalidRequest: "The request makes no sense"
    case .invalidSchema: "No store could keep such a model"
    case .schemaMismatch: "The model is declared otherwise here"
    case .unauthorized: "A token is missing or does not suffice"
    case .busy: "Busy"
    case .timedOut: "Out of time"
    default: "The request could not be carried out"
    }
  }
}
