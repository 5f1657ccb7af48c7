import PersistenceDriver
import PersistenceHTTP
import PersistenceDriverSupport

/// A query in the parameters of another server.
struct MappedQuery: Sendable {
  let limit: Int?
  let offset: Int
  let mapping: RemoteMapping
  private let path: String
  private var parameters: [(String, String)] = []

  /// Translates a request.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` where the server cannot be asked that.
  init(_ request: FetchRequest, _ mapping: RemoteMapping, at location: String) throws(PersistenceError) {
    self.mapping = mapping
    limit = request.limit
    offset = request.offset
    path = mapping.path(of: request.schema)
    guard request.after == nil else {
      throw .unsupported("begin a query after a record", by: location)
    }
    for (name, value) in try Self.equalities(request.predicate, mapping, location) {
      guard let field = request.schema.field(named: name), !value.isNull else {
        throw .unsupported("be asked for records that lack a value", by: location)
      }
      try add(mapping.member(of: name), FieldText.plain(value, field), location)
    }
    guard !request.order.isEmpty else { return }
    guard let sort = mapping.sort else { throw .unsupported("be asked for an order", by: location) }
    let order = request.order.map { ($0.isDescending ? "-" : "") + mapping.member(of: $0.field) }
    parameters.append((sort, order.joined(separator: ",")))
  }

  /// Adds a condition.
  ///
  /// A parameter that is there twice would be either of its values to many servers, or the last of
  /// them; one that has another meaning would change the question.
  private mutating func add(_ name: String, _ text: String, _ location: String) throws(PersistenceError) {
    if parameters.contains(where: { $0.0 == name && $0.1 == text }) { return }
    guard !parameters.contains(where: { $0.0 == name }) else {
      throw .unsupported("be asked for several values of “\(name)” at once", by: location)
    }
    guard ![mapping.sort, mapping.limit, mapping.offset].contains(name) else {
      throw .unsupported(
        "be asked for values of “\(name)”, which is a parameter of another meaning", by: location)
    }
    parameters.append((name, text))
  }

  private static func equalities(_ node: PredicateNode?, _ mapping: RemoteMapping, _ location: String)
    throws(PersistenceError) -> [(String, PersistentValue)]
  {
    switch node {
    case nil, .constant(true)?: return []
    case .comparison(let field, .equal, let value)? where mapping.conditions == .equalities:
      return [(field, value)]
    case .all(let nodes)?:
      var found: [(String, PersistentValue)] = []
      for node in nodes { found += try equalities(node, mapping, location) }
      return found
    default: throw .unsupported("be asked for this condition, by the mapping", by: location)
    }
  }

  /// The path with the parameters for some of the records.
  func path(offset: Int, limit: Int) -> String {
    var all = parameters
    if let name = mapping.limit { all.append((name, "\(limit)")) }
    if let name = mapping.offset, offset > 0 { all.append((name, "\(offset)")) }
    let text = all.map { PathSegment.escaped($0.0) + "=" + PathSegment.escaped($0.1) }.joined(separator: "&")
    return text.isEmpty ? path : path + "?" + text
  }

  /// Whether the server gives its records a page at a time.
  var isPaged: Bool { mapping.limit != nil && mapping.offset != nil }
}
