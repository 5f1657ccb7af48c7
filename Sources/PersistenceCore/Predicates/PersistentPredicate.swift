public import PersistenceDriver
import PersistenceDriverSupport

/// A condition on models, written with operators and functions over key paths of stored properties.
///
/// ```swift
/// let predicate: PersistentPredicate<Movie> =
///   \.rating == .pg13 && \.budget >= 10_000_000 && !.hasPrefix(\.title, "The ")
/// ```
///
/// A predicate is a value: you can store, send, encode and print it, and a driver reads its ``node``. Logic
/// is two-valued: nil equals nil, every ordering with nil is false, and `!p` is true if and only if `p` is
/// false (contract V6).
public struct PersistentPredicate<Model: PersistentModel>: Sendable {
  /// The condition in the form that contexts use.
  public let node: PredicateNode

  /// Why the condition cannot be evaluated, such as a value that could not be encoded; thrown when the predicate is used.
  ///
  /// It is a `PersistenceError` in a box: each query copies its condition, and the error itself is a large value.
  @usableFromInline let failure: (any Error)?

  /// The models of conditions on related records, as the code declares them.
  ///
  /// A predicate that was decoded has none: the store's own schemas serve.
  @usableFromInline let related: [any PersistentRecord.Type]

  /// Whether there are conditions on related records.
  @usableFromInline let hasRelations: Bool

  /// Creates a predicate from a condition over stored names.
  public init(node: PredicateNode) {
    self.init(node: node, failure: nil)
  }

  init(node: PredicateNode, failure: (any Error)?, relating related: [any PersistentRecord.Type] = []) {
    self.init(node: node, failure: failure, relating: related, hasRelations: node.hasRelations)
  }

  /// Nothing walks the condition here: a long one that is combined of clauses would be walked for each of them.
  private init(
    node: PredicateNode, failure: (any Error)?, relating related: [any PersistentRecord.Type],
    hasRelations: Bool
  ) {
    self.node = node
    self.failure = failure
    self.related = related
    self.hasRelations = hasRelations
  }

  /// The condition; throws if a value could not be encoded.
  func checkedNode() throws -> PredicateNode {
    if let failure { throw failure }
    return node
  }

  /// The condition of a request; nil if every model matches.
  func requestedNode() throws -> PredicateNode? {
    let node = try checkedNode()
    return node.filter
  }
}

extension PersistentPredicate: Hashable {
  /// Whether two predicates are the same condition.
  public static func == (left: PersistentPredicate, right: PersistentPredicate) -> Bool {
    left.node == right.node && (left.failure == nil) == (right.failure == nil)
  }

  /// Feeds the condition into a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(node) }
}

extension PersistentPredicate: Codable {
  /// Decodes a condition.
  public init(from decoder: any Decoder) throws {
    self.init(node: try PredicateNode(from: decoder))
  }

  /// Encodes the condition.
  public func encode(to encoder: any Encoder) throws {
    try checkedNode().encode(to: encoder)
  }
}

extension PersistentPredicate: CustomStringConvertible {
  /// The condition as text, with its values.
  public var description: String { node.description }
}

extension PersistentPredicate {
  /// Both conditions are true.
  public static func && (left: PersistentPredicate, right: PersistentPredicate) -> PersistentPredicate {
    if left == .all { return right }
    if right == .all { return left }
    return PersistentPredicate(
      node: .conjunction(left.node, right.node), failure: left.failure ?? right.failure,
      relating: left.related + right.related, hasRelations: left.hasRelations || right.hasRelations)
  }

  /// At least one of the conditions is true.
  public static func || (left: PersistentPredicate, right: PersistentPredicate) -> PersistentPredicate {
    PersistentPredicate(
      node: .disjunction(left.node, right.node), failure: left.failure ?? right.failure,
      relating: left.related + right.related, hasRelations: left.hasRelations || right.hasRelations)
  }

  /// The condition is false.
  public static prefix func ! (predicate: PersistentPredicate) -> PersistentPredicate {
    PersistentPredicate(
      node: .not(predicate.node), failure: predicate.failure, relating: predicate.related,
      hasRelations: predicate.hasRelations)
  }

  /// Matches every model.
  public static var all: PersistentPredicate { PersistentPredicate(node: .constant(true)) }

  /// Matches no model.
  public static var none: PersistentPredicate { PersistentPredicate(node: .constant(false)) }
}

// Comparisons of a stored property with a value, with another property, and with nil. Each operator has a form
// for properties and one for optional properties; orderings with nil are false (contract V6).

/// The property is equal to the value.
public func == <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: KeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(property, .equal, value)
}

/// The property is equal to the other property.
public func == <Model: PersistentFields, Value: PersistentValueConvertible>(
  left: KeyPath<Model, Value>, right: KeyPath<Model, Value>
) -> PersistentPredicate<Model> {
  .comparing(left, .equal, with: right)
}

/// The property is different from the value.
public func != <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: KeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(property, .notEqual, value)
}

/// The property is different from the other property.
public func != <Model: PersistentFields, Value: PersistentValueConvertible>(
  left: KeyPath<Model, Value>, right: KeyPath<Model, Value>
) -> PersistentPredicate<Model> {
  .comparing(left, .notEqual, with: right)
}

/// The property is less than the value.
public func < <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: KeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(property, .less, value)
}

/// The property is not nil and less than the value.
public func < <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: KeyPath<Model, Value?>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(property, .less, value)
}

/// The property is less than the other property.
public func < <Model: PersistentFields, Value: PersistentValueConvertible>(
  left: KeyPath<Model, Value>, right: KeyPath<Model, Value>
) -> PersistentPredicate<Model> {
  .comparing(left, .less, with: right)
}

/// The property is at most the value.
public func <= <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: KeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(property, .lessOrEqual, value)
}

/// The property is not nil and at most the value.
public func <= <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: KeyPath<Model, Value?>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(property, .lessOrEqual, value)
}

/// The property is at most the other property.
public func <= <Model: PersistentFields, Value: PersistentValueConvertible>(
  left: KeyPath<Model, Value>, right: KeyPath<Model, Value>
) -> PersistentPredicate<Model> {
  .comparing(left, .lessOrEqual, with: right)
}

/// The property is greater than the value.
public func > <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: KeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(property, .greater, value)
}

/// The property is not nil and greater than the value.
public func > <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: KeyPath<Model, Value?>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(property, .greater, value)
}

/// The property is greater than the other property.
public func > <Model: PersistentFields, Value: PersistentValueConvertible>(
  left: KeyPath<Model, Value>, right: KeyPath<Model, Value>
) -> PersistentPredicate<Model> {
  .comparing(left, .greater, with: right)
}

/// The property is at least the value.
public func >= <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: KeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(property, .greaterOrEqual, value)
}

/// The property is not nil and at least the value.
public func >= <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: KeyPath<Model, Value?>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(property, .greaterOrEqual, value)
}

/// The property is at least the other property.
public func >= <Model: PersistentFields, Value: PersistentValueConvertible>(
  left: KeyPath<Model, Value>, right: KeyPath<Model, Value>
) -> PersistentPredicate<Model> {
  .comparing(left, .greaterOrEqual, with: right)
}

extension PersistentPredicate where Model: PersistentFields {
  /// A property, or a part of a document, compared with a value.
  static func comparing(
    _ property: AnyKeyPath, _ comparison: ComparisonOperator, _ value: some PersistentValueConvertible
  ) -> PersistentPredicate {
    if let field = Model.fieldName(for: property) {
      return PersistentPredicate(node: .comparison(field: field, comparison, value.persistentValue))
    }
    return placed(property) { place in try comparison.node(place, value) }
  }

  /// A property compared with another.
  static func comparing(_ left: AnyKeyPath, _ comparison: ComparisonOperator, with right: AnyKeyPath)
    -> PersistentPredicate
  {
    placed(left) { first in
      guard case (.field(let left), .field(let right)) = (first, try Model.place(of: right)) else {
        throw PersistenceError(
          .unsupported,
          "parts of documents cannot be compared with properties, only with values; store the part in a property of its "
            + "own", model: "\(Model.self)")
      }
      return .fieldComparison(left: left, comparison, right: right)
    }
  }
}
