import PersistenceDriver
import PersistenceHTTP

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
      parameters.append((mapping.member(of: name), FieldText.plain(value, field)))
    }
    guard !request.order.isEmpty else { return }
    guard let sort = mapping.sort else { throw .unsupported("be asked for an order", by: location) }
    let order = request.order.map { ($0.isDescending ? "-" : "") + mapping.member(of: $0.field) }
    parameters.append((sort, order.joined(separator: ",")))
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

/// Reads the records of another server's collection, a page after another where it has pages.
///
/// It is used by one task at a time, as the iterators of asynchronous sequences are.
final class MappedPager: @unchecked Sendable {  // see above
  private let query: MappedQuery
  private let read: @Sendable (String) async throws(PersistenceError) -> [JSONValue]
  private var page: ArraySlice<JSONValue> = []
  private var offset: Int
  private var left: Int
  private var isAtEnd = false

  init(
    query: MappedQuery, read: @escaping @Sendable (String) async throws(PersistenceError) -> [JSONValue]
  ) {
    self.query = query
    self.read = read
    offset = query.offset
    left = query.limit ?? .max
  }

  func next() async throws(PersistenceError) -> JSONValue? {
    while page.isEmpty, !isAtEnd, left > 0 { try await readMore() }
    guard left > 0, let record = page.popFirst() else { return nil }
    left -= 1
    return record
  }

  private func readMore() async throws(PersistenceError) {
    guard query.isPaged else {
      isAtEnd = true
      // Without a parameter to pass over records, those are passed over here.
      let wanted = query.limit.map { $0 + query.offset } ?? query.mapping.pageSize
      let isLimited = query.mapping.limit != nil && query.limit != nil
      let all = try await read(
        isLimited ? query.path(offset: 0, limit: wanted) : query.path(offset: 0, limit: .max))
      page = all.dropFirst(query.offset)
      return
    }
    let wanted = min(max(1, query.mapping.pageSize), left)
    page = try await read(query.path(offset: offset, limit: wanted))[...]
    offset += page.count
    isAtEnd = page.count < wanted
  }
}
