/// How a context answers a request: for people, logs and tests.
public struct QueryPlan: Sendable, Hashable, Codable {
  /// Where the rows come from.
  public enum Access: Sendable, Hashable, Codable {
    /// Every record is looked at.
    case scan
    /// The records of one primary key, or a range of them.
    case primaryKey
    /// A secondary index over these fields.
    case index([String])
    /// The engine's own planner decided, in its own words.
    case engine(String)
  }

  /// How the rows come into their order.
  public enum Ordering: Sendable, Hashable, Codable {
    /// The access path yields them in order.
    case byAccess
    /// Their sort keys are sorted in memory.
    case sorted
    /// The engine sorts them.
    case byEngine
  }

  /// Where the rows come from.
  public var access: Access
  /// The part of the predicate that the access path or the engine decides, in words; nil for none.
  public var native: String?
  /// The part of the predicate that is evaluated on each row, in words; nil for none.
  public var residual: String?
  /// How the rows come into their order.
  public var ordering: Ordering

  /// Makes a plan.
  public init(access: Access, native: String? = nil, residual: String? = nil, ordering: Ordering) {
    self.access = access
    self.native = native
    self.residual = residual
    self.ordering = ordering
  }
}

extension QueryPlan: CustomStringConvertible {
  /// The plan in one line, without any value of a user.
  public var description: String {
    var parts: [String] = []
    switch access {
    case .scan: parts.append("scan of all records")
    case .primaryKey: parts.append("primary key")
    case .index(let fields): parts.append("index (\(fields.joined(separator: ", ")))")
    case .engine(let words): parts.append(words)
    }
    if let native { parts.append("native: \(native)") }
    if let residual { parts.append("residual: \(residual)") }
    switch ordering {
    case .byAccess: parts.append("in order")
    case .sorted: parts.append("sort keys sorted in memory")
    case .byEngine: parts.append("sorted by the engine")
    }
    return parts.joined(separator: "; ")
  }
}
