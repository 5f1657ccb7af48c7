import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport

/// A part of all objects that a layer held whole at a moment: those of a condition, perhaps only between two places of
/// an order.
///
/// It is what keeps three of ten movies from being taken for all of them.
struct Coverage: Codable, Sendable, Hashable {
  /// The condition; nil for every object.
  var predicate: PredicateNode?
  /// The total order that the places are of; empty where there are none.
  var order: [FieldOrder] = []
  /// Only objects strictly after this place.
  var lower: PageAnchor?
  /// Only objects up to this place, its own included.
  var upper: PageAnchor?
  /// When the store that decides held exactly these.
  var asOf: Date

  /// How far a coverage reaches for one question.
  enum Reach {
    /// Every object of the question is held.
    case whole
    /// Those up to a place of the question's order are.
    case upTo(PageAnchor)
  }

  init(predicate: PredicateNode? = nil, asOf: Date) {
    self.predicate = predicate
    self.asOf = asOf
  }

  /// What is known once a request has been answered whole.
  ///
  /// - Returns: Nil where that says nothing about absent objects: of a request with an offset, or for nothing.
  init?<Object: PersistentRecord>(of request: FetchRequest, answeredBy objects: [Object], asOf: Date) throws {
    guard request.offset == 0, request.limit != 0 else { return nil }
    predicate = request.predicate
    self.asOf = asOf
    lower = request.after
    if let limit = request.limit, objects.count >= limit, let last = objects.last {
      upper = try last.anchor(in: request)
    }
    if isBounded { order = request.totalOrder }
  }

  /// The condition that an object is of this part.
  var region: PredicateNode? {
    var conditions: [PredicateNode] = []
    if let predicate { conditions.append(predicate) }
    if let lower { conditions.append(FetchRequest.following(lower.values, in: order)) }
    if let upper { conditions.append(.not(FetchRequest.following(upper.values, in: order))) }
    return conditions.isEmpty ? nil : conditions.count == 1 ? conditions[0] : .all(conditions)
  }

  /// Whether it reaches only from or up to a place of its order.
  var isBounded: Bool { lower != nil || upper != nil }

  /// Whether every object is of this part.
  var isEverything: Bool { predicate.isAlwaysTrue && !isBounded }

  /// Whether it may lack objects that were of it, once they were missing from the answer of another part: they may have
  /// been changed so that they are still of this one.
  func mayLack<Object: PersistentRecord>(_ gone: [Object], missingFrom other: Coverage) throws -> Bool {
    if gone.isEmpty || (other.lower == nil && other.upper == nil && predicate.implies(other.predicate)) {
      return false
    }
    guard let region else { return true }
    let schema = try Object.schema.model
    let predicate = try CompiledPredicate(region, in: schema)
    let row = RowBuffer(count: schema.fields.count)
    return try gone.contains { object in
      try object.encode(into: row)
      return try row.withRow { try predicate.matches($0) }
    }
  }

  /// Whether another coverage, where it is younger, makes this one needless.
  func isReplaced(by other: Coverage) -> Bool {
    predicate == other.predicate && order == other.order && lower == other.lower
      && (other.upper == nil || upper == other.upper)
  }

  /// How far it reaches for a request; nil where it says nothing about it.
  func reach(for request: FetchRequest) throws -> Reach? {
    if !isBounded { return request.predicate.implies(predicate) ? .whole : nil }
    guard request.predicate == predicate, request.totalOrder == order else { return nil }
    if let lower {
      guard let after = request.after else { return nil }
      let order = try RowOrder(order, in: request.schema)
      guard order.compare(after.values, lower.values) >= 0 else { return nil }
    }
    return upper.map { .upTo($0) } ?? .whole
  }
}

extension Optional where Wrapped == PredicateNode {
  /// Whether it is true of every row, as far as its form shows.
  var isAlwaysTrue: Bool { self == nil || self == .constant(true) }

  /// Whether whatever it is true of, another condition is true of too, as far as their forms show.
  func implies(_ other: PredicateNode?) -> Bool {
    if other.isAlwaysTrue || self == .constant(false) { return true }
    guard let node = self, let other else { return false }
    let mine = Set(node.conjuncts)
    return other.conjuncts.allSatisfy { mine.contains($0) }
  }
}

extension PredicateNode {
  fileprivate var conjuncts: [PredicateNode] {
    if case .all(let nodes) = self { nodes.flatMap(\.conjuncts) } else { [self] }
  }

  /// The condition that a record has a key.
  static func key(_ key: RecordKey, in schema: ModelSchema) -> PredicateNode {
    let conditions = zip(schema.key, key.values).map { PredicateNode.comparison(field: $0, .equal, $1) }
    return conditions.count == 1 ? conditions[0] : .all(conditions)
  }
}

extension PersistentRecord {
  /// The place of an object in a request's order.
  func anchor(in request: FetchRequest) throws -> PageAnchor {
    let row = RowBuffer(count: request.schema.fields.count)
    try encode(into: row)
    return PageAnchor(try row.withRow { try RowOrder(request.totalOrder, in: request.schema).key(of: $0) })
  }
}
