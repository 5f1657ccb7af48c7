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
  @usableFromInline let failure: PersistenceError?

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

  init(node: PredicateNode, failure: PersistenceError?, relating related: [any PersistentRecord.Type] = []) {
    self.node = node
    self.failure = failure
    self.related = related
    hasRelations = node.hasRelations
  }

  /// The condition; throws if a value could not be encoded.
  func checkedNode() throws -> PredicateNode {
    if let failure { throw failure }
    return node
  }

  /// The condition of a request; nil if every model matches.
  func requestedNode() throws -> PredicateNode? {
    let node = try checkedNode()
    return node.isAlwaysTrue ? nil : node
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
      relating: left.related + right.related)
  }

  /// At least one of the conditions is true.
  public static func || (left: PersistentPredicate, right: PersistentPredicate) -> PersistentPredicate {
    PersistentPredicate(
      node: .disjunction(left.node, right.node), failure: left.failure ?? right.failure,
      relating: left.related + right.related)
  }

  /// The condition is false.
  public static prefix func ! (predicate: PersistentPredicate) -> PersistentPredicate {
    PersistentPredicate(
      node: .not(predicate.node), failure: predicate.failure, relating: predicate.related)
  }

  /// Matches every model.
  public static var all: PersistentPredicate { PersistentPredicate(node: .constant(true)) }

  /// Matches no model.
  public static var none: PersistentPredicate { PersistentPredicate(node: .constant(false)) }
}
