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
  /// Paths of which only the ranges count: a row fits where each of them leads to it too.
  package var intersected: [AccessPlan] = []

  /// Whether every record is come to, in the order of a secondary index.
  package var isWholeIndex: Bool {
    guard case .index = path else { return false }
    return ranges == [Range()]
  }
}
