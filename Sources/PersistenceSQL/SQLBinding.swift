package import PersistenceDriver
package import PersistenceDriverSupport

/// What is bound to a parameter of a statement.
///
/// Nothing of a user's ever stands in the text itself.
package enum SQLBinding: Sendable {
  /// A value, as its column holds it.
  case value(PersistentValue)
  /// A limit or an offset; −1 for no limit.
  case count(Int64)
  /// The values that a field may have, as one parameter.
  case list([PersistentValue])
  /// A prepared search, for the function that searches text.
  case search(TextMatcher)
  /// A prepared condition over the fields at these positions, for the function that evaluates it.
  case condition(CompiledPredicate, positions: [Int])
}

extension SQLBinding: CustomStringConvertible {
  /// The value as a predicate prints it; searches and conditions by what they are.
  package var description: String {
    switch self {
    case .value(let value): "\(value)"
    case .count(let count): "\(count)"
    case .list(let values): "[" + values.map { "\($0)" }.joined(separator: ", ") + "]"
    case .search: "search"
    case .condition(_, let positions): "condition over \(positions)"
    }
  }
}
