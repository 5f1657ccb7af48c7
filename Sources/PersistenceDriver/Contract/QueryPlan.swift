/// How a context answers a request: for people, logs and tests.
public struct QueryPlan: Sendable, Hashable, Codable {
  /// Where the rows come from.
  public enum Access: Sendable, Hashable, Codable {
    /// A scan of every record.
    case scan
    /// One primary key, or a range of primary keys.
    case primaryKey
    /// A secondary index over these fields.
    case index([String])
    /// A plan of the engine's own planner, as the engine describes it.
    case engine(String)
  }

  /// How the rows are ordered.
  public enum Ordering: Sendable, Hashable, Codable {
    /// The access path returns them in order.
    case byAccess
    /// The context sorts their sort keys in memory.
    case sorted
    /// The engine sorts them.
    case byEngine
  }

  /// Where the rows come from.
  public var access: Access
  /// A description of the predicate that the access path or the engine evaluates; nil for none.
  public var native: String?
  /// A description of the predicate that the context evaluates on each row; nil for none.
  public var residual: String?
  /// How the rows are ordered.
  public var ordering: Ordering
  /// The part of the access path that is read, with `?` for every value, such as `rating == ?, budget >= ?`; nil for
  /// the whole path.
  public var range: String?
  /// The number of such ranges: one for each value of a list.
  public var ranges: Int
  /// Whether the path is read in reverse.
  public var isReversed: Bool
  /// Whether the keys of the path contain every field that is read, so that no record is read.
  public var isIndexOnly: Bool
  /// Descriptions of the other indexes whose entries are intersected.
  public var intersected: [String]
  /// The maximum number of rows kept while sorting in memory; nil if unknown.
  public var sortedAtMost: Int?
  /// The requests for related records that come first; empty if the query asks of one model.
  public var related: [RelatedPlan]
  /// Whether the context has the plan from an earlier request of the same shape, and makes none for this one.
  ///
  /// Requests have the same shape if they differ in values only. A change of the schema discards the plans.
  public var isReused = false

  /// Creates a plan.
  public init(
    access: Access, native: String? = nil, residual: String? = nil, ordering: Ordering, range: String? = nil,
    ranges: Int = 1, isReversed: Bool = false, isIndexOnly: Bool = false, intersected: [String] = [],
    sortedAtMost: Int? = nil, related: [RelatedPlan] = []
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
    self.related = related
  }
}

/// A request for related records, whose answer the query needs first.
public struct RelatedPlan: Sendable, Hashable, Codable, CustomStringConvertible {
  /// What is asked, without values: a condition such as `has(studio: Studio, name == ?)`, or a field such as `studio.name`.
  public var relation: String
  /// The number of keys that the request finds, or asks with.
  public var keys: Int
  /// Whether the records of the query were asked one page after another, because too many related ones have fitting keys.
  public var isByRecord: Bool
  /// How the context answers the request.
  public var plan: QueryPlan

  /// Creates a plan.
  public init(_ relation: String, keys: Int, isByRecord: Bool = false, plan: QueryPlan) {
    (self.relation, self.keys, self.isByRecord, self.plan) = (relation, keys, isByRecord, plan)
  }

  /// The plan in one line, without user values.
  public var description: String {
    isByRecord
      ? "\(relation): by record, \(keys) fit (\(plan))"
      : "\(relation): \(keys) key\(keys == 1 ? "" : "s") first (\(plan))"
  }
}

extension QueryPlan: CustomStringConvertible {
  /// The plan in one line, without user values.
  public var description: String {
    var parts: [String] = []
    switch access {
    case .scan: parts.append("scan of all records")
    case .primaryKey: parts.append("primary key")
    case .index(let fields): parts.append("index (\(fields.joined(separator: ", ")))")
    case .engine(let words): parts.append(words)
    }
    if ranges == 0 { return (related.map(\.description) + ["no record can match"]).joined(separator: "; ") }
    if let range { parts[0] += " where \(range)" + (ranges > 1 ? " in \(ranges) ranges" : "") }
    if isReversed { parts[0] += " backwards" }
    for other in intersected { parts.append("intersected with \(other)") }
    if isIndexOnly { parts.append("from keys alone, without records") }
    if let native { parts.append("native: \(native)") }
    if let residual { parts.append("residual: \(residual)") }
    switch ordering {
    case .byAccess: parts.append("in order")
    case .sorted:
      parts.append("sort keys sorted in memory" + (sortedAtMost.map { ", at most \($0) kept" } ?? ""))
    case .byEngine: parts.append("sorted by the engine")
    }
    if isReused { parts.append("reused") }
    return (related.map(\.description) + parts).joined(separator: "; ")
  }
}
