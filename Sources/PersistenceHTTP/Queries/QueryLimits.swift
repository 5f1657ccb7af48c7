import PersistenceDriver

/// The limits of one request.
package struct QueryLimits: Sendable {
  /// The maximum number of records in a page.
  package var pageSize: Int
  /// The default number of records in a page.
  package var defaultPageSize: Int
  /// The maximum nesting depth of a condition.
  package var depth: Int
  /// The maximum number of tests and values in a condition.
  package var nodes: Int

  package init(pageSize: Int = 1000, defaultPageSize: Int = 100, depth: Int = 32, nodes: Int = 2000) {
    self.pageSize = pageSize
    self.defaultPageSize = defaultPageSize
    self.depth = depth
    self.nodes = nodes
  }

  /// No limits, for a client's own requests.
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

  /// Checks a condition that does not come from JSON.
  func check(_ node: PredicateNode, depth: Int = 1, count: inout Int) throws {
    try check(depth: depth)
    count += 1
    if case .isIn(_, let values) = node { count += values.count }
    try check(nodes: count)
    switch node {
    case .all(let nodes), .any(let nodes):
      for node in nodes { try check(node, depth: depth + 1, count: &count) }
    case .not(let node): try check(node, depth: depth + 1, count: &count)
    case .related(let relation): try check(relation.condition, depth: depth + 1, count: &count)
    default: break
    }
  }
}
