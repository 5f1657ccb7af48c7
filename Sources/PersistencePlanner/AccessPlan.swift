package import PersistenceDriver

/// How the rows of a request are found: a value that any store with ordered keys can carry out.
///
/// It names ranges in terms of values; how values become keys is the store's affair.
package struct AccessPlan: Sendable, Hashable {
  /// Where the rows come from.
  package enum Path: Sendable, Hashable {
    /// All records, in the order of the primary key.
    case scan
    /// Some records, by the primary key.
    case primaryKey
    /// A secondary index, by its position in the list that was given.
    case index(Int)
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

  /// What a range says about the component after those that are equal to given values.
  package enum Next: Sendable, Hashable {
    /// Nothing.
    case all
    /// It lies between bounds.
    case bounds(lower: Bound?, upper: Bound?)
    /// Its text begins with a prefix.
    case prefix(String)
  }

  /// A run of entries: the first components are equal to values, the next one is bounded.
  package struct Range: Sendable, Hashable {
    package var equals: [PersistentValue]
    package var next: Next

    package init(equals: [PersistentValue] = [], next: Next = .all) {
      self.equals = equals
      self.next = next
    }
  }

  /// Where the rows come from.
  package var path: Path
  /// The components of the path's keys: the index's fields, then the primary key's.
  package var components: [String]
  /// How many components belong to the index; 0 for the primary key itself.
  package var indexedComponents: Int
  /// The ranges, ascending and apart from each other; none where no row can fit.
  package var ranges: [Range]
  /// Rows strictly after this place in the direction of the walk only: values of the first components.
  package var anchor: [PersistentValue]?
  /// Whether the path is walked from its greatest key to its least.
  package var isReversed: Bool
  /// Whether the walk yields the request's total order; otherwise the rows are sorted.
  package var isOrdered: Bool
  /// The part of the predicate that the ranges decide.
  package var native: PredicateNode?
  /// The part of the predicate that is evaluated on each row, the anchor's included where the walk does not
  /// decide it.
  package var residual: PredicateNode?
}

extension AccessPlan {
  /// The plan as the driver contract states it.
  package func queryPlan(indexes: [IndexSchema]) -> QueryPlan {
    let access: QueryPlan.Access =
      switch path {
      case .scan: .scan
      case .primaryKey: .primaryKey
      case .index(let number): .index(indexes[number].fields)
      }
    return QueryPlan(
      access: access, native: native?.shape, residual: residual?.shape,
      ordering: isOrdered ? .byAccess : .sorted)
  }
}

extension AccessPlan: CustomStringConvertible {
  /// The plan as text, with its values: for people, tests and debug logs.
  package var description: String {
    var text: String
    switch path {
    case .scan: text = "scan"
    case .primaryKey: text = "key (\(components.joined(separator: ", ")))"
    case .index: text = "index (\(components.prefix(indexedComponents).joined(separator: ", ")))"
    }
    if ranges.isEmpty { return "nothing" }
    let words = ranges.map { self.words($0) }.filter { !$0.isEmpty }
    if !words.isEmpty { text += " [\(words.joined(separator: " | "))]" }
    if let anchor { text += " after (\(anchor.map { "\($0)" }.joined(separator: ", ")))" }
    if isReversed { text += " backwards" }
    text += isOrdered ? "; in order" : "; sorted"
    if let residual { text += "; residual \(residual)" }
    return text
  }

  private func words(_ range: Range) -> String {
    var words = zip(components, range.equals).map { "\($0) == \($1)" }
    let field = range.equals.count < components.count ? components[range.equals.count] : ""
    switch range.next {
    case .all: break
    case .prefix(let prefix): words.append("\(field) begins with \(PersistentValue.text(prefix))")
    case .bounds(let lower, let upper):
      if let lower { words.append("\(field) \(lower.isInclusive ? ">=" : ">") \(lower.value)") }
      if let upper { words.append("\(field) \(upper.isInclusive ? "<=" : "<") \(upper.value)") }
    }
    return words.joined(separator: ", ")
  }
}
