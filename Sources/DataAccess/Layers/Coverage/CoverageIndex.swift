import Foundation
import PersistenceCore
import PersistenceDriver

/// The coverage of a layer, in memory.
struct CoverageIndex: Sendable {
  /// The maximum number of regions; the oldest is removed first.
  static let limit = 256

  private(set) var regions: [Coverage] = []
  /// The dates at which an object was last known to be current or absent.
  private(set) var keys: [RecordKey: Date] = [:]
  /// The earliest and the latest date of any key.
  private var (earliestKey, latestKey) = (Date.distantFuture, Date.distantPast)
  /// The keys whose objects may be stale.
  private(set) var staleKeys: Set<RecordKey> = []
  /// The number of invalidations.
  ///
  /// An answer from before the last one does not count as current.
  private(set) var invalidationCount = 0

  /// Records a region that is complete.
  mutating func record(_ coverage: Coverage) {
    regions.removeAll { $0.asOf <= coverage.asOf && $0.isReplaced(by: coverage) }
    if coverage.isEverything { staleKeys = [] }
    regions.append(coverage)
    if regions.count > Self.limit { regions.removeFirst() }
  }

  /// Records that an object is current or absent.
  mutating func record(_ key: RecordKey, asOf date: Date) {
    staleKeys.remove(key)
    keys[key] = date
    (earliestKey, latestKey) = (min(earliestKey, date), max(latestKey, date))
    // Look-ups of absent keys are unlimited.
    if keys.count > 65_536 { keys.removeAll() }
  }

  /// Removes an evicted key and the regions that contain it.
  mutating func forget(_ key: RecordKey, from isOfRegion: (Coverage) -> Bool) {
    keys.removeValue(forKey: key)
    regions.removeAll(where: isOfRegion)
  }

  /// Removes the regions that may lack objects that were absent from an answer.
  mutating func forget<Object: PersistentRecord>(_ removed: [Object], missingFrom part: Coverage) throws {
    for object in removed { keys.removeValue(forKey: object.recordKey) }
    try regions.removeAll { try $0.mayLack(removed, missingFrom: part) }
  }

  /// Removes everything known from before one date or from after another.
  mutating func forget(before first: Date, after last: Date) {
    func isOutside(_ date: Date) -> Bool { date < first || date > last }
    if regions.contains(where: { isOutside($0.asOf) }) { regions.removeAll { isOutside($0.asOf) } }
    guard earliestKey < first || latestKey > last else { return }
    keys = keys.filter { !isOutside($0.value) }
    earliestKey = keys.values.min() ?? .distantFuture
    latestKey = keys.values.max() ?? .distantPast
  }

  /// Marks keys as stale and removes all regions.
  mutating func markStale(_ keys: some Sequence<RecordKey>) {
    invalidationCount += 1
    regions = []
    for key in keys {
      staleKeys.insert(key)
      self.keys.removeValue(forKey: key)
    }
  }

  mutating func removeAll() {
    invalidationCount += 1
    (regions, keys, staleKeys) = ([], [:], [])
  }
}
