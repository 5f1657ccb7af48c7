import Foundation

package import PersistenceDriver
import PersistenceDriverSupport

/// What a server serves, by the paths under which it does: the one place where both sides look paths up.
///
/// Names of models and keys are data, whatever they hold: each is one segment, in which everything is escaped that
/// could be taken for more, so that `../..` is a name like any other. An empty name is an empty segment.
package enum WirePath: Equatable, Sendable {
  /// Whether the server is there; the one resource that needs no token.
  case health
  /// The description of everything else.
  case description
  /// The schemas of all models.
  case models
  /// The schema of a model.
  case model(String)
  /// The records of a model.
  case records(String)
  /// A record, by the texts of its key's values.
  case record(String, [String])
  /// A query of a model, sent as a body.
  case query(String)
  /// The number of records of a query.
  case count(String)
  /// Several changes, made together.
  case batches

  /// Reads a path; nil where nothing is served under it.
  ///
  /// - Parameter path: The path as a request has it, escapes and all, without a query.
  package init?(_ path: String) {
    var parts = path[...].parts("/")
    guard parts.first == "" else { return nil }
    parts.removeFirst()
    var segments: [String] = []
    for part in parts {
      guard let segment = PathSegment.text(part) else { return nil }
      segments.append(segment)
    }
    // A prefix is compared as it stands: only names and keys are unescaped.
    switch (parts.first, parts.count) {
    case ("health", 1): self = .health
    case ("openapi.json", 1): self = .description
    case ("models", 1): self = .models
    case ("batches", 1): self = .batches
    case ("models", 2): self = .model(segments[1])
    case ("models", 3...):
      let name = segments[1]
      switch (parts[2], parts.count) {
      case ("records", 3): self = .records(name)
      case ("query", 3): self = .query(name)
      case ("count", 3): self = .count(name)
      case ("records", 4...): self = .record(name, Array(segments[3...]))
      default: return nil
      }
    default: return nil
    }
  }

  /// The path as a request has it.
  package var text: String {
    switch self {
    case .health: "/health"
    case .description: "/openapi.json"
    case .models: "/models"
    case .batches: "/batches"
    case .model(let name): "/models/" + PathSegment.escaped(name)
    case .records(let name): "/models/" + PathSegment.escaped(name) + "/records"
    case .query(let name): "/models/" + PathSegment.escaped(name) + "/query"
    case .count(let name): "/models/" + PathSegment.escaped(name) + "/count"
    case .record(let name, let key):
      "/models/" + PathSegment.escaped(name) + "/records/"
        + key.map(PathSegment.escaped).joined(separator: "/")
    }
  }

  /// The path of a record.
  package static func record(_ key: RecordKey, in schema: ModelSchema) -> WirePath {
    .record(
      schema.name,
      zip(key.values, schema.keyPositions).map { FieldText.plain($0, schema.fields[$1]) })
  }
}

extension RecordKey {
  /// Reads a key from the texts that stand in a path.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` where they are no key of the
  ///   model.
  package init(path texts: [String], in schema: ModelSchema) throws {
    guard texts.count == schema.key.count else {
      throw PersistenceError.invalidRequest(
        "a key of \(schema.name) has \(schema.key.count) parts (\(schema.key.joined(separator: ", "))), the path has "
          + "\(texts.count)")
    }
    self.init(
      try zip(texts, schema.keyPositions).map { text, position in
        let field = schema.fields[position]
        switch field.kind {
        case .string: return .text(text)
        case .uuid: if let uuid = UUID(uuidString: text) { return .uuid(uuid) }
        default: if let number = Int64(text), "\(number)" == text { return .integer(number) }
        }
        throw PersistenceError(
          .invalidRequest, "the key field “\(field.name)” of \(schema.name) is \(field.kind.rawValue)",
          model: schema.name, field: field.name)
      })
  }
}
