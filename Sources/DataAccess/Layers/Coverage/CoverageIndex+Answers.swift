import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport

extension CoverageIndex {
  /// The date at which a key was last known; nil if the key is stale, or absent here and possibly present
  /// elsewhere.
  ///
  /// The date of a held object may itself be unknown.
  func knowledge(of key: RecordKey, isHeld: Bool, request: FetchRequest) throws -> Date?? {
    if staleKeys.contains(key) { return nil }
    if let date = keys[key] { return .some(date) }
    let date = try regions.filter { try $0.reach(for: request) != nil }.map(\.asOf).max()
    if let date { return .some(date) }
    return isHeld ? .some(nil) : nil
  }

  /// The regions that can answer a request, newest first.
  func parts(for request: FetchRequest) throws -> [(reach: Coverage.Reach, asOf: Date)] {
    try regions.compactMap { region in try region.reach(for: request).map { ($0, region.asOf) } }
      .sorted { $0.asOf > $1.asOf }
  }
}

extension Coverage.Reach {
  /// Whether the found objects are the complete answer: as many as requested, none beyond the covered position.
  func isWhole<Object: PersistentRecord>(_ objects: [Object], for request: FetchRequest) throws -> Bool {
    switch self {
    case .whole: return true
    case .upTo(let end):
      guard let limit = request.limit, objects.count >= limit, let last = objects.last else { return false }
      let order = try RowOrder(request.totalOrder, in: request.schema)
      return order.compare(try last.anchor(in: request).values, end.values) <= 0
    }
  }
}
