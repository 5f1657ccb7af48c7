import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

/// The sample of a model's records that an earlier request read.
///
/// It holds records, not estimates: each request tests them with its own conditions and values. A rare value therefore
/// has the estimate that a new sample gives it, and its entries are counted as before. Only the content ages. A sample
/// is read again at the latest after writes of a tenth of the records. They move a share by a tenth at most, while the
/// standard error of 64 records is up to a sixteenth.
final class KeptSample: Sendable {
  private struct State {
    var records: SampledRecords
    /// The number of records in the store.
    var total: Int
    var mark: WriteTally.Mark
  }

  private let state = Mutex<State?>(nil)

  /// The kept records, if they have these fields and the store has not changed much.
  func records(with fields: [Int], of total: Int, at version: Int, _ cache: CatalogCache) -> SampledRecords? {
    guard let state = state.withLock({ $0 }), fields.allSatisfy(state.records.fields.contains),
      let writes = cache.writes(since: state.mark, to: version)
    else { return nil }
    let limit = state.total / 10
    return writes <= UInt64(limit) && abs(total - state.total) <= limit ? state.records : nil
  }

  /// Some fields with those of the kept records, so that requests of different fields share a sample.
  func fields(adding fields: [Int]) -> [Int] {
    let known = state.withLock { $0?.records.fields } ?? []
    return Set(known + fields).sorted()
  }

  /// Keeps records; none if they exceed the limit of memory.
  func keep(_ records: SampledRecords, of total: Int, at version: Int, _ cache: CatalogCache) {
    let mark = cache.mark(of: version)
    state.withLock { state in
      state = records.isComplete ? State(records: records, total: total, mark: mark) : nil
    }
  }
}

/// Copies of sampled records, with some of their fields; the others are nil.
final class SampledRecords: @unchecked Sendable {  // not changed once it is shared
  /// How many bytes of text and other data a model's sample may keep.
  private static let byteLimit = 64 << 10

  /// The positions of the fields.
  let fields: [Int]
  /// Whether no record exceeded the limit.
  private(set) var isComplete = true
  private var byteCount = 0
  @exclusivity(unchecked) private var rows: RowArena

  init(_ fields: [Int], width: Int) {
    self.fields = fields
    rows = RowArena(width: width, chunkSize: 4 << 10)
  }

  /// Copies a record, unless the limit is reached.
  func append(_ row: borrowing Row) {
    guard isComplete else { return }
    let count = RowArena.byteCount(of: row)
    byteCount += count
    isComplete = byteCount <= Self.byteLimit
    if isComplete { rows.append(row, byteCount: count) }
  }

  /// Calls a closure with each record.
  func forEach(_ body: (borrowing Row) -> Void) {
    for index in 0..<rows.count { rows.withRow(index, width: rows.width, body) }
  }
}

/// The number of writes of this process, over versions between which no other process committed.
struct WriteTally {
  /// A moment of a tally.
  struct Mark: Sendable {
    let version: Int
    /// The first version that the tally had, and its count; nil if the moment was not the newest one.
    let start: Int?
    let count: UInt64
  }

  private var versions: ClosedRange<Int>?
  private var count: UInt64 = 0

  /// Adds the writes of a commit that follows a version.
  mutating func add(_ writes: UInt64, after version: Int) {
    if let known = versions, known.upperBound == version {
      versions = known.lowerBound...version + 1
    } else {
      // Another process committed in between: nobody knows what it wrote.
      versions = version...version + 1
      count = 0
    }
    count &+= writes
  }

  func mark(of version: Int) -> Mark {
    Mark(version: version, start: versions?.upperBound == version ? versions?.lowerBound : nil, count: count)
  }

  /// The largest number of writes between a mark and a version; nil if it is unknown.
  func writes(since mark: Mark, to version: Int) -> UInt64? {
    if version == mark.version { return 0 }
    guard let versions, versions.contains(mark.version), versions.contains(version) else { return nil }
    return versions.lowerBound == mark.start ? count &- mark.count : count
  }
}
