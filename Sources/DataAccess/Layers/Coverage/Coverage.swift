import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport

/// A region of objects that a layer held completely at some moment: those of a predicate, optionally between
/// two positions of an order.
///
/// It prevents a layer that holds three of ten movies from returning them as a complete answer.
struct Coverage: Codable, Sendable, Hashable {
  /// The predicate; nil for all objects.
  var predicate: PredicateNode?
  /// The total order of the bounds; empty if there are none.
  var order: [FieldOrder] = []
  /// The exclusive lower bound.
  var lower: PageAnchor?
  /// The inclusive upper bound.
  var upper: PageAnchor?
  /// The date at which the authoritative layer held exactly these objects.
  var asOf: Date

  /// The part of a query that a region covers.
  enum Reach {
    /// All objects.
    case whole
    /// The objects up to a position in the query's order.
    case upTo(PageAnchor)
  }

  init(predicate: PredicateNode? = nil, asOf: Date) {
    self.predicate = predicate
    self.asOf = asOf
  }

  /// The region that a complete answer covers.
  ///
  /// Nil if the answer implies nothing about absent objects, as with an offset or a limit of zero.
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

  /// The predicate of all objects in the region, bounds included.
  var region: PredicateNode? {
    var conditions: [PredicateNode] = []
    if let predicate { conditions.append(predicate) }
    if let lower { conditions.append(FetchRequest.following(lower.values, in: order)) }
    if let upper { conditions.append(.not(FetchRequest.following(upper.values, in: order))) }
    return conditions.isEmpty ? nil : conditions.count == 1 ? conditions[0] : .all(conditions)
  }

  var isBounded: Bool { lower != nil || upper != nil }

  var isEverything: Bool { predicate.isAlwaysTrue && !isBounded }
}

extension PersistentRecord {
  /// The position of an object in a request's order.
  func anchor(in request: FetchRequest) throws -> PageAnchor {
    let row = RowBuffer(count: request.schema.fields.count)
    try encode(into: row)
    return PageAnchor(try row.withRow { try RowOrder(request.totalOrder, in: request.schema).key(of: $0) })
  }
}
