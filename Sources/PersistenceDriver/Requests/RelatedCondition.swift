import PersistencePrimitives

/// A condition on the records to which a reference relates a record (contract L5).
///
/// No ``FetchRequest`` contains one. Repositories, servers and tools answer it first, from the same moment, and ask the
/// driver with the keys that they found.
public struct RelatedCondition: Sendable, Hashable {
  /// Which side of the reference the condition is on.
  public enum Side: String, Sendable, Hashable, Codable {
    /// The record that a field refers to: it exists and matches.
    case target = "has"
    /// The records of another model that refer to this one: at least one matches.
    case referrers = "hasAny"
  }

  /// Which side of the reference the condition is on.
  public var side: Side
  /// The stored name of the reference, a field of this model or of the referring one.
  public var field: String
  /// The name of the other model.
  public var model: String
  /// The condition on records of the other model.
  public var condition: PredicateNode

  /// Creates a condition.
  public init(_ side: Side, field: String, model: String, _ condition: PredicateNode) {
    self.side = side
    self.field = field
    self.model = model
    self.condition = condition
  }

  /// Whether two conditions are the same; names are compared by their bytes.
  public static func == (left: RelatedCondition, right: RelatedCondition) -> Bool {
    left.side == right.side && StoredName(left.field) == StoredName(right.field)
      && StoredName(left.model) == StoredName(right.model) && left.condition == right.condition
  }

  /// Hashes the condition.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(side)
    hasher.combine(StoredName(field))
    hasher.combine(StoredName(model))
    hasher.combine(condition)
  }

  /// The condition as text, such as `has(studio: Studio, name == A24)`.
  func text(_ condition: (PredicateNode) -> String) -> String {
    let field = side == .target ? field : "\(model).\(field)"
    let other = side == .target ? ": \(model)" : ""
    return "\(side.rawValue)(\(field)\(other), \(condition(self.condition)))"
  }
}
