extension FetchRequest {
  /// The filter with the condition of the anchor added, for contexts that cannot seek; nil if the request has neither.
  ///
  /// The anchor `(a, b)` in the order `x, y` becomes `x after a || (x == a && y after b)`. Logic is two-valued, so
  /// nil follows from its place in the order (contract O3).
  public var predicateWithAnchor: PredicateNode? {
    guard let after else { return predicate }
    let condition = Self.following(after.values, in: totalOrder)
    return predicate.map { .conjunction($0, condition) } ?? condition
  }

  /// The condition that a row follows these values in an order.
  package static func following(_ values: [PersistentValue], in order: [FieldOrder]) -> PredicateNode {
    var alternatives: [PredicateNode] = []
    var equals: [PredicateNode] = []
    for (value, criterion) in zip(values, order) {
      if let beyond = beyond(value, criterion) { alternatives.append(.all(equals + [beyond])) }
      equals.append(.comparison(field: criterion.field, .equal, value))
    }
    return .any(alternatives)
  }

  private static func beyond(_ value: PersistentValue, _ criterion: FieldOrder) -> PredicateNode? {
    let field = criterion.field
    switch (value.isNull, criterion.isDescending) {
    case (true, false): return .comparison(field: field, .notEqual, .null)
    case (true, true): return nil
    case (false, false): return .comparison(field: field, .greater, value)
    case (false, true):
      return .any([.comparison(field: field, .less, value), .comparison(field: field, .equal, .null)])
    }
  }
}

/// The position that a page begins after: one row's values of the fields in the request's total order (contract O4).
public struct PageAnchor: Sendable, Hashable, Codable {
  /// One value for each criterion of ``FetchRequest/totalOrder``.
  public var values: [PersistentValue]

  /// Creates an anchor.
  public init(_ values: [PersistentValue]) { self.values = values }
}
