package import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

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

/// The text of a path.
extension WirePath {
  /// Reads the encoded path of a request, without the query; nil if it has no resource.
  package init?(_ path: String) {
    if let records = Self.literalRecords(path) {
      self = records
      return
    }
    var parts = path[...].parts("/")
    guard parts.first == "" else { return nil }
    parts.removeFirst()
    // Fixed segments are compared in their encoded form: only names and keys are decoded.
    switch (parts.first, parts.count) {
    case ("models", 3...):
      guard let name = PathSegment.text(parts[1]) else { return nil }
      switch (parts[2], parts.count) {
      case ("records", 3): self = .records(name)
      case ("records", 4...):
        var key: [String] = []
        for part in parts[3...] {
          guard let value = PathSegment.text(part) else { return nil }
          key.append(value)
        }
        self = .record(name, key)
      case ("query", 3): self = .query(name)
      case ("count", 3): self = .count(name)
      case ("changes", 3): self = .changes(name)
      case ("events", 3): self = .events(name)
      default: return nil
      }
    case ("models", 2):
      guard let name = PathSegment.text(parts[1]) else { return nil }
      self = .model(name)
    case ("schemas", 2):
      guard let digest = PathSegment.text(parts[1]) else { return nil }
      self = .schema(digest)
    case ("health", 1): self = .health
    case ("ready", 1): self = .ready
    case ("metrics", 1): self = .metrics
    case ("openapi.json", 1): self = .description
    case ("models", 1): self = .models
    case ("batches", 1): self = .batches
    default: return nil
    }
  }

  /// The records of a model, or the one with a key of one value, if nothing in the path is encoded; nil for other paths.
  ///
  /// Most requests have such a path, and a list of its parts takes as long as the search of the record.
  private static func literalRecords(_ path: String) -> WirePath? {
    let found = path.utf8.withContiguousStorageIfAvailable { bytes -> WirePath? in
      guard bytes.starts(with: "/models/".utf8), !bytes.contains(UInt8(ascii: "%")),
        let end = bytes[8...].firstIndex(of: UInt8(ascii: "/")),
        bytes[end...].starts(with: "/records".utf8)
      else { return nil }
      let name = String(decoding: bytes[8..<end], as: UTF8.self)
      let rest = bytes[(end + 8)...]
      guard let mark = rest.first else { return .records(name) }
      let key = rest.dropFirst()
      guard mark == UInt8(ascii: "/"), !key.contains(UInt8(ascii: "/")) else { return nil }
      return .record(name, [String(decoding: key, as: UTF8.self)])
    }
    return found ?? nil
  }

  package var text: String {
    switch self {
    case .health: "/health"
    case .ready: "/ready"
    case .metrics: "/metrics"
    case .description: "/openapi.json"
    case .models: "/models"
    case .batches: "/batches"
    case .schema(let digest): "/schemas/" + PathSegment.escaped(digest)
    case .model(let name): "/models/" + PathSegment.escaped(name)
    case .records(let name): "/models/" + PathSegment.escaped(name) + "/records"
    case .query(let name): "/models/" + PathSegment.escaped(name) + "/query"
    case .count(let name): "/models/" + PathSegment.escaped(name) + "/count"
    case .changes(let name): "/models/" + PathSegment.escaped(name) + "/changes"
    case .events(let name): "/models/" + PathSegment.escaped(name) + "/events"
    case .record(let name, let key):
      "/models/" + PathSegment.escaped(name) + "/records/"
        + key.map(PathSegment.escaped).joined(separator: "/")
    }
  }
}

extension WirePath {
  /// The path of a record.
  package static func record(_ key: RecordKey, in schema: ModelSchema) -> WirePath {
    .record(
      schema.name,
      zip(key.values, schema.keyPositions).map { ValueWriter.text($0, schema.fields[$1].kind) })
  }
}

extension RecordKey {
  /// Reads a key from the segments of a path.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if they are not a key
  ///   of the model.
  package init(path texts: [String], in schema: ModelSchema) throws {
    guard texts.count == schema.key.count else {
      throw PersistenceError.invalidRequest(
        "a key of \(schema.name) has \(schema.key.count) parts (\(schema.key.joined(separator: ", "))), the path has "
          + "\(texts.count)")
    }
    self.init(
      try zip(texts, schema.keyPositions).map { text, position in
        let field = schema.fields[position]
        if let value = ValueReader.strict.value(ofText: text, field.kind) { return value }
        throw PersistenceError(
          .invalidRequest, "the key field “\(field.name)” of \(schema.name) is \(field.kind.rawValue)",
          model: schema.name, field: field.name)
      })
  }
}
