/// The resources of a server, by path, for the server and its clients.
///
/// Names of models and keys are data. Each is one segment, with all special characters encoded, so that
/// `../..` is an ordinary name. An empty name is an empty segment.
package enum WirePath: Equatable, Sendable {
  /// The health of the server.
  case health
  /// Whether the store can be read.
  case ready
  /// What the server has done, for a monitoring system.
  case metrics
  /// The description of all other resources.
  case description
  /// The schemas of all models.
  case models
  /// The schema of a model.
  case model(String)
  /// The records of a model.
  case records(String)
  /// A record, by the text of each key value.
  case record(String, [String])
  /// A query of a model.
  case query(String)
  /// The number of records that match a query.
  case count(String)
  /// The changes of a model since a checkpoint.
  case changes(String)
  /// The changes of a model, as server-sent events.
  case events(String)
  /// Batches of changes.
  case batches
  /// A model as a client declares it, by its digest.
  case schema(String)

  /// The model whose records the resource has; nil if it concerns several models, or only their schemas.
  package var recordModel: String? {
    switch self {
    case .records(let name), .record(let name, _), .query(let name), .count(let name), .changes(let name),
      .events(let name):
      name
    case .health, .ready, .metrics, .description, .models, .model, .batches, .schema: nil
    }
  }

  /// Whether the resource needs no token: it only shows whether the server and its store work.
  package var isOpen: Bool { self == .health || self == .ready }

  /// Whether the parameter `schema` may name the schema of the client.
  package var takesSchema: Bool { recordModel != nil || self == .batches }
}
