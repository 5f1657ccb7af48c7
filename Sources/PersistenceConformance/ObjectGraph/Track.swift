package import PersistenceCore

/// A model of the object-graph framework: a class that conforms to `PersistentModel` through public API,
/// without a schema, rows or a driver.
package final class Track: PersistentModel, PersistentFields {
  package let number: Int
  package var title: String

  package init(_ number: Int, _ title: String) {
    self.number = number
    self.title = title
  }

  private convenience init(_ properties: GraphObject.Properties) {
    self.init(properties.number, properties.title)
  }

  private var properties: GraphObject.Properties { GraphObject.Properties(number: number, title: title) }

  package static func fieldName(for keyPath: AnyKeyPath) -> String? {
    switch keyPath {
    case \Track.number: "number"
    case \Track.title: "title"
    default: nil
    }
  }

  package static func fetch(in context: any PersistentContext, options: FetchOptions<Track>?) throws
    -> AnyCollection<Track>
  {
    let graph = try graph(context)
    var tracks = graph.all(ObjectIdentifier(self)).map { Track($0) }
    guard let options else { return AnyCollection(tracks) }
    guard options.after == nil else {
      throw PersistenceError.unsupported("start a page after an object", by: "\(ObjectGraph.self)")
    }
    tracks = try tracks.filter { try $0.matches(options.predicate.node) }
    for criterion in options.sorting.reversed() {
      let isDescending = criterion.fieldOrder.isDescending
      let keyed = try tracks.map { (try $0.value(of: criterion.fieldOrder.field), $0) }
      tracks = keyed.sorted { isDescending ? $1.0 < $0.0 : $0.0 < $1.0 }.map(\.1)
    }
    return AnyCollection(Array(tracks.dropFirst(options.offset).prefix(options.limit ?? .max)))
  }

  package static func count(in context: any PersistentContext, options: FetchOptions<Track>?) throws -> Int {
    try fetch(in: context, options: options).count
  }

  package static func save(_ models: [Track], in context: any PersistentContext) throws {
    try graph(context).put(models.map(\.properties), ObjectIdentifier(self))
  }

  package static func write(
    _ model: Track, in context: any PersistentContext, _ change: (inout Track) throws -> Void
  ) throws -> Track {
    let graph = try graph(context)
    guard let known = graph.all(ObjectIdentifier(self)).first(where: { $0.number == model.number }) else {
      throw PersistenceError(.notFound, "there is no track \(model.number); save it first", model: "Track")
    }
    var track = Track(known)
    try change(&track)
    graph.put([track.properties], ObjectIdentifier(self))
    return track
  }

  package static func delete(_ model: Track, in context: any PersistentContext) throws -> Bool {
    try graph(context).remove(model.number, ObjectIdentifier(self))
  }

  package static func deleteAll(in context: any PersistentContext) throws {
    try graph(context).removeAll(ObjectIdentifier(self))
  }

  private static func graph(_ context: any PersistentContext) throws -> ObjectGraph {
    guard let graph = context as? ObjectGraph else {
      throw PersistenceError.incompatibleContext(self, context: context, accepted: ["\(ObjectGraph.self)"])
    }
    return graph
  }

  private func value(of field: String) throws -> PersistentValue {
    switch field {
    case "number": return number.persistentValue
    case "title": return title.persistentValue
    default: throw PersistenceError(.unknownField, "a track has no \(field)", model: "Track", field: field)
    }
  }

  /// Evaluates a predicate, as any author of a context can.
  private func matches(_ node: PredicateNode) throws -> Bool {
    switch node {
    case .constant(let truth): return truth
    case .comparison(let field, .equal, let value): return try self.value(of: field) == value
    case .comparison(let field, .less, let value): return try self.value(of: field) < value
    case .comparison(let field, .greater, let value): return try self.value(of: field) > value
    case .text(let field, .hasPrefix, let needle, isCaseInsensitive: false):
      guard case .text(let text) = try value(of: field) else { return false }
      return text.unicodeScalars.starts(with: needle.unicodeScalars)
    case .all(let nodes): return try nodes.allSatisfy { try matches($0) }
    case .any(let nodes): return try nodes.contains { try matches($0) }
    case .not(let node): return try !matches(node)
    default: throw PersistenceError.unsupported("decide \(node.shape)", by: "\(ObjectGraph.self)")
    }
  }
}
