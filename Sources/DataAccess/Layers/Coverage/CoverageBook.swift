import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport

/// What a layer knows of its own completeness, in memory.
struct CoverageBook: Sendable {
  /// More parts than this are not remembered; the oldest is forgotten first.
  static let limit = 256

  private(set) var regions: [Coverage] = []
  /// When an object was last known to be as it is held, or to be absent.
  private(set) var keys: [RecordKey: Date] = [:]
  /// No key is known from before this.
  private var earliestKey = Date.distantFuture
  /// The keys of which nothing is known for sure.
  private(set) var doubts: Set<RecordKey> = []
  /// Grows whenever something came into doubt, so that an answer asked for before is not taken for knowledge after.
  private(set) var doubtCount = 0

  /// Notes that a part is held whole.
  mutating func record(_ coverage: Coverage) {
    regions.removeAll { $0.asOf <= coverage.asOf && $0.isReplaced(by: coverage) }
    if coverage.isEverything { doubts = [] }
    regions.append(coverage)
    if regions.count > Self.limit { regions.removeFirst() }
  }

  /// Notes that an object is held as it is, or is absent.
  mutating func record(_ key: RecordKey, asOf date: Date) {
    doubts.remove(key)
    keys[key] = date
    earliestKey = min(earliestKey, date)
    // Absences could be asked for without end.
    if keys.count > 65_536 { keys.removeAll() }
  }

  /// Forgets when an object was seen: it has been evicted.
  mutating func forget(_ key: RecordKey, from isOfRegion: (Coverage) -> Bool) {
    keys.removeValue(forKey: key)
    regions.removeAll(where: isOfRegion)
  }

  /// Forgets what may lack objects that were missing from the answer of a part.
  mutating func forget<Object: PersistentRecord>(_ gone: [Object], missingFrom part: Coverage) throws {
    for object in gone { keys.removeValue(forKey: object.recordKey) }
    try regions.removeAll { try $0.mayLack(gone, missingFrom: part) }
  }

  /// Forgets what was known before a date.
  mutating func forgetOlder(than date: Date) {
    if regions.contains(where: { $0.asOf < date }) { regions.removeAll { $0.asOf < date } }
    guard earliestKey < date else { return }
    keys = keys.filter { $0.value >= date }
    earliestKey = keys.values.min() ?? .distantFuture
  }

  /// Brings keys into doubt: no part is known to be whole any more, and none of these objects is relied upon.
  mutating func doubt(_ keys: some Sequence<RecordKey>) {
    doubtCount += 1
    regions = []
    for key in keys {
      doubts.insert(key)
      self.keys.removeValue(forKey: key)
    }
  }

  /// Forgets everything.
  mutating func removeAll() {
    doubtCount += 1
    (regions, keys, doubts) = ([], [:], [])
  }

  /// What is known about a key: when it was seen; nil where it is in doubt, or is absent and may exist elsewhere.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - isHeld: Whether there is an object of that key here.
  ///   - request: The request for that key.
  /// - Returns: The moment, which may itself be unknown.
  /// - Throws: ``PersistenceError``.
  func knowledge(of key: RecordKey, isHeld: Bool, request: FetchRequest) throws -> Date?? {
    if doubts.contains(key) { return nil }
    if let date = keys[key] { return .some(date) }
    let date = try regions.filter { try $0.reach(for: request) != nil }.map(\.asOf).max()
    if let date { return .some(date) }
    return isHeld ? .some(nil) : nil
  }

  /// The youngest parts that a request may be answered from, those that reach for all of it first.
  func parts(for request: FetchRequest) throws -> [(reach: Coverage.Reach, asOf: Date)] {
    try regions.compactMap { region in try region.reach(for: request).map { ($0, region.asOf) } }
      .sorted { $0.asOf > $1.asOf }
  }
}

extension Coverage.Reach {
  /// Whether an answer that was found here is whole: it has as many objects as were asked for, none beyond the place up
  /// to which all are held.
  func isWhole<Object: PersistentRecord>(_ objects: [Object], for request: FetchRequest) throws -> Bool {
    switch self {
    case .whole: return true
    case .upTo(let place):
      guard let limit = request.limit, objects.count >= limit, let last = objects.last else { return false }
      let order = try RowOrder(request.totalOrder, in: request.schema)
      return order.compare(try last.anchor(in: request).values, place.values) <= 0
    }
  }
}
