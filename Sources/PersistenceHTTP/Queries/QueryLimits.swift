import PersistenceDriver

/// How much one request may ask.
package struct QueryLimits: Sendable {
  /// How many records a page has at most.
  package var pageSize: Int
  /// How many records a page has where the request does not say.
  package var defaultPageSize: Int
  /// How deep a condition may be nested.
  package var depth: Int
  /// How many tests and values a condition may have.
  package var nodes: Int

  /// States limits.
  package init(pageSize: Int = 1000, defaultPageSize: Int = 100, depth: Int = 32, nodes: Int = 2000) {
    self.pageSize = pageSize
    self.defaultPageSize = defaultPageSize
    self.depth = depth
    self.nodes = nodes
  }

  /// No limits but those of the requests themselves: for a client's own requests.
  package static let none = QueryLimits(pageSize: .max, defaultPageSize: .max, depth: 500, nodes: .max)

  func check(depth: Int) throws {
    guard depth <= self.depth else {
      throw PersistenceError.invalidRequest("the condition is nested deeper than \(self.depth) levels")
    }
  }

  func check(nodes: Int) throws {
    guard nodes <= self.nodes else {
      throw PersistenceError.invalidRequest("the condition has more than \(self.nodes) tests and values")
    }
  }

  /// Checks a condition that was not read from JSON.
  func check(_ node: PredicateNode, depth: Int = 1, count: inout Int) throws {
    try check(depth: depth)
    count += 1
    if case .isIn(_, let values) = node { count += values.count }
    try check(nodes: count)
    switch node {
    case .all(let nodes), .any(let nodes):
      for node in nodes { try check(node, depth: depth + 1, count: &count) }
    case .not(let node): try check(node, depth: depth + 1, count: &count)
    default: break
    }
  }
}
