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
  /// What is read of the access path, in words with `?` for every value, such as `rating == ?, budget >= ?`; nil for
  /// all of it.
  public var range: String?
  /// How many such ranges there are, one for each value of a list.
  public var ranges: Int
  /// Whether the path is read from its end to its beginning.
  public var isReversed: Bool
  /// Whether the keys of the path answer by themselves, so that no record is read.
  public var isIndexOnly: Bool
  /// The other indexes that a record must be found by too, in words.
  public var intersected: [String]
  /// How many rows are kept at most while they are sorted in memory; nil where nothing says so.
  public var sortedAtMost: Int?

  /// Makes a plan.
  public init(
    access: Access, native: String? = nil, residual: String? = nil, ordering: Ordering, range: String? = nil,
    ranges: Int = 1, isReversed: Bool = false, isIndexOnly: Bool = false, intersected: [String] = [],
    sortedAtMost: Int? = nil
  ) {
    self.access = access
    self.native = native
    self.residual = residual
    self.ordering = ordering
    self.range = range
    self.ranges = ranges
    self.isReversed = isReversed
    self.isIndexOnly = isIndexOnly
    self.intersected = intersected
    self.sortedAtMost = sortedAtMost
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
    if ranges == 0 { return "nothing can fit" }
    if let range { parts[0] += " where \(range)" + (ranges > 1 ? " in \(ranges) ranges" : "") }
    if isReversed { parts[0] += " backwards" }
    for other in intersected { parts.append("and also in \(other)") }
    if isIndexOnly { parts.append("from keys alone, without records") }
    if let native { parts.append("native: \(native)") }
    if let residual { parts.append("residual: \(residual)") }
    switch ordering {
    case .byAccess: parts.append("in order")
    case .sorted:
      parts.append("sort keys sorted in memory" + (sortedAtMost.map { ", at most \($0) kept" } ?? ""))
    case .byEngine: parts.append("sorted by the engine")
    }
    return parts.joined(separator: "; ")
  }
}
