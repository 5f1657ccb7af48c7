import PersistencePrimitives

/// The text of a path.
extension WirePath {
  /// Reads the encoded path of a request, without the query; nil if it has no resource.
  package init?(_ path: String) {
    var parts = path[...].parts("/")
    guard parts.first == "" else { return nil }
    parts.removeFirst()
    var segments: [String] = []
    for part in parts {
      guard let segment = PathSegment.text(part) else { return nil }
      segments.append(segment)
    }
    // Fixed segments are compared in their encoded form: only names and keys are decoded.
    switch (parts.first, parts.count) {
    case ("health", 1): self = .health
    case ("ready", 1): self = .ready
    case ("metrics", 1): self = .metrics
    case ("openapi.json", 1): self = .description
    case ("models", 1): self = .models
    case ("batches", 1): self = .batches
    case ("schemas", 2): self = .schema(segments[1])
    case ("models", 2): self = .model(segments[1])
    case ("models", 3...):
      let name = segments[1]
      switch (parts[2], parts.count) {
      case ("records", 3): self = .records(name)
      case ("query", 3): self = .query(name)
      case ("count", 3): self = .count(name)
      case ("changes", 3): self = .changes(name)
      case ("events", 3): self = .events(name)
      case ("records", 4...): self = .record(name, Array(segments[3...]))
      default: return nil
      }
    default: return nil
    }
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
