import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport

extension Coverage {
  /// Whether the region may lack objects that were absent from the answer for another region.
  ///
  /// A change may have moved them.
  func mayLack<Object: PersistentRecord>(_ removed: [Object], missingFrom other: Coverage) throws -> Bool {
    if removed.isEmpty || (other.lower == nil && other.upper == nil && predicate.implies(other.predicate)) {
      return false
    }
    guard let region else { return true }
    let schema = try Object.schema.model
    let predicate = try CompiledPredicate(region, in: schema)
    let row = RowBuffer(count: schema.fields.count)
    return try removed.contains { object in
      try object.encode(into: row)
      return try row.withRow { try predicate.matches($0) }
    }
  }

  /// Whether a newer region makes this one redundant.
  func isReplaced(by other: Coverage) -> Bool {
    predicate == other.predicate && order == other.order && lower == other.lower
      && (other.upper == nil || upper == other.upper)
  }

  /// The part of a request that the region covers; nil if none.
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
