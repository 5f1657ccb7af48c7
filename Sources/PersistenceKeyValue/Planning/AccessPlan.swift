package import PersistenceDriver

/// A plan that finds the rows of a request; any store with ordered keys can execute it.
///
/// A plan states its ranges as values. The store encodes the values as keys.
package struct AccessPlan: Sendable, Hashable {
  /// The path that yields the rows.
  package enum Path: Sendable, Hashable {
    /// All records, in the order of the primary key.
    case scan
    /// Some records, by the primary key.
    case primaryKey
    /// A secondary index, by its position in the planner's list.
    case index(Int)

    /// Whether the path reads a secondary index.
    package var isIndex: Bool { if case .index = self { true } else { false } }
  }

  /// One end of a range.
  package struct Bound: Sendable, Hashable {
    package var value: PersistentValue
    package var isInclusive: Bool

    package init(_ value: PersistentValue, isInclusive: Bool) {
      self.value = value
      self.isInclusive = isInclusive
    }
  }

  /// The condition on the component that follows the equal ones.
  package enum Next: Sendable, Hashable {
    case all
    case bounds(lower: Bound?, upper: Bound?)
    /// The component's text begins with a prefix.
    case prefix(String)
  }

  /// A contiguous range of entries: the first components equal given values, and the next one is bounded.
  package struct Range: Sendable, Hashable {
    package var equals: [PersistentValue]
    package var next: Next

    package init(equals: [PersistentValue] = [], next: Next = .all) {
      self.equals = equals
      self.next = next
    }
  }

  /// The path that yields the rows.
  package var path: Path
  /// The components of the path's keys: the index's fields, then the primary key's.
  package var components: [String]
  /// How many components belong to the index; 0 for the primary key itself.
  package var indexedComponents: Int
  /// The ranges, ascending and disjoint; none if no row can match.
  package var ranges: [Range]
  /// The anchor of keyset pagination: values of the first components, after which the rows begin.
  package var anchor: [PersistentValue]?
  /// Whether the cursor runs from the greatest key to the least.
  package var isReversed: Bool
  /// Whether the path yields the request's total order; otherwise the rows are sorted.
  package var isOrdered: Bool
  /// The part of the predicate that the ranges decide.
  package var native: PredicateNode?
  /// The part of the predicate that is evaluated on each row; includes the anchor if the ranges do not decide
  /// it.
  package var residual: PredicateNode?
  /// Further paths; a row matches only if the ranges of each path contain it.
  package var intersected: [AccessPlan] = []

  /// Whether the plan reads a whole secondary index.
  package var isWholeIndex: Bool { path.isIndex && ranges == [Range()] }
}

extension AccessPlan {
  /// The plan in the terms of the driver contract, without any value.
  package func queryPlan(for request: FetchRequest, isIndexOnly: Bool) -> QueryPlan {
    let access: QueryPlan.Access =
      switch path {
      case .scan: .scan
      case .primaryKey: .primaryKey
      case .index: .index(Array(components.prefix(indexedComponents)))
      }
    var plan = QueryPlan(
      access: access, native: native?.shape, residual: residual?.shape,
      ordering: isOrdered ? .byAccess : .sorted)
    plan.range = shape
    plan.ranges = ranges.count
    plan.isReversed = isReversed
    plan.isIndexOnly = isIndexOnly
    plan.intersected = intersected.map { other in
      let fields = other.components.prefix(other.indexedComponents).joined(separator: ", ")
      return "index (\(fields))" + (other.shape.map { " where \($0)" } ?? "")
    }
    if !isOrdered, let limit = request.limit {
      let (kept, overflows) = limit.addingReportingOverflow(request.offset)
      plan.sortedAtMost = overflows ? nil : kept
    }
    return plan
  }

  /// The ranges as text, with `?` for every value; safe to log at any level.
  private var shape: String? {
    var shapes: [String] = []
    for range in ranges {
      let shape = text(of: range) { _ in "?" }
      if !shape.isEmpty, !shapes.contains(shape) { shapes.append(shape) }
    }
    if anchor != nil { shapes.append("after an anchor") }
    return shapes.isEmpty ? nil : shapes.joined(separator: " or ")
  }
}

extension AccessPlan: CustomStringConvertible {
  /// The plan as text with its values, for tests and debug logs.
  package var description: String {
    if ranges.isEmpty { return "nothing" }
    var text: String
    switch path {
    case .scan: text = "scan"
    case .primaryKey: text = "key \(rangesText)"
    case .index: text = "index \(rangesText)"
    }
    if let anchor { text += " after (\(anchor.map { "\($0)" }.joined(separator: ", ")))" }
    for other in intersected { text += " and index \(other.rangesText)" }
    if isReversed { text += " backwards" }
    text += isOrdered ? "; in order" : "; sorted"
    if let residual { text += "; residual \(residual)" }
    return text
  }

  private var rangesText: String {
    let fields = path == .primaryKey ? components : Array(components.prefix(indexedComponents))
    let conditions = ranges.map { text(of: $0) }.filter { !$0.isEmpty }
    return "(\(fields.joined(separator: ", ")))"
      + (conditions.isEmpty ? "" : " [\(conditions.joined(separator: " | "))]")
  }

  /// A range as text.
  func text(of range: Range, value: (PersistentValue) -> String = { "\($0)" }) -> String {
    var conditions = zip(components, range.equals).map { "\($0) == \(value($1))" }
    let field = range.equals.count < components.count ? components[range.equals.count] : ""
    switch range.next {
    case .all: break
    case .prefix(let prefix): conditions.append("\(field) begins with \(value(.text(prefix)))")
    case .bounds(let lower, let upper):
      if let lower {
        let operand = lower.value.isNull ? "nil" : value(lower.value)
        conditions.append("\(field) \(lower.isInclusive ? ">=" : ">") \(operand)")
      }
      if let upper { conditions.append("\(field) \(upper.isInclusive ? "<=" : "<") \(value(upper.value))") }
    }
    return conditions.joined(separator: ", ")
  }
}

/// A plan with the properties that decide the choice.
struct PlanCandidate {
  var plan: AccessPlan
  /// A score of the ranges' selectivity, before anything is counted; 0 if the ranges contain everything.
  var score: Int
  /// Whether the plan finds at most one record.
  var isPoint: Bool
  /// The conditions that the ranges decide, by position.
  var covered: Set<Int>
  /// The other conditions that the path's keys decide.
  var keyTerms: Set<Int> = []
  /// Whether the keys contain all fields that the request reads and evaluates.
  var isCovering = false

  /// Whether the path's keys contain all of these fields.
  ///
  /// Comparing a few names is faster than hashing them.
  func holds(_ fields: [String]) -> Bool {
    fields.allSatisfy { field in
      let name = StoredName(field)
      return plan.components.contains { StoredName($0) == name }
    }
  }

  var isIndex: Bool { if case .index = plan.path { true } else { false } }

  /// Whether the plan reads a part of an index.
  var isNarrowIndex: Bool { isIndex && score > 0 && !plan.ranges.isEmpty }
}
