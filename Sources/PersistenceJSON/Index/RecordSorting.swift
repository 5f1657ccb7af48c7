import PersistenceDriver
import PersistenceDriverSupport

/// Sorting records by other fields than the key's, in memory: by kept values without opening the files that the index
/// knows, otherwise by reading each file once.
struct RecordSorting {
  /// A record that may be a row of the result, by its position among the entries that were sorted.
  struct Place {
    var key: [PersistentValue]
    var number: Int
    /// What its file was, or 0 where that cannot change.
    var stamp: UInt64
  }

  private let query: RecordQuery
  private let files: RecordFiles
  private let order: RowOrder
  /// How many records at most can be rows, where that is known before they are read.
  private let limit: Int
  private var places: [Place] = []

  init(_ query: RecordQuery, _ files: RecordFiles, _ order: RowOrder) {
    self.query = query
    self.files = files
    self.order = order
    let isDecided = !query.isOrderKept || query.residual == nil
    let (end, overflow) = query.request.offset.addingReportingOverflow(query.request.limit ?? Int.max)
    limit = isDecided && !overflow ? end : Int.max
  }

  /// The entries that may be rows, in the order of the result.
  ///
  /// Where the order is by kept values, the conditions that take the whole record are left to be decided.
  mutating func sort(_ entries: [RecordFiles.Entry]) throws -> [Place] {
    let row = RowBuffer(count: query.request.schema.fields.count)
    for (number, entry) in entries.enumerated() {
      guard let stamp = try look(at: entry, row) else { continue }
      places.append(Place(key: try row.withRow { try order.key(of: $0) }, number: number, stamp: stamp))
      // Sorted now and then, so that no more than what is asked for is kept.
      if places.count / 2 > max(limit, 512) { settle() }
    }
    settle()
    files.saveIndex()
    return places
  }

  private mutating func settle() {
    places.sort { order.compare($0.key, $1.key) < 0 }
    if places.count > limit { places.removeLast(places.count - limit) }
  }

  /// Fills the fields of the order, and decides what can be decided on the way; nil where the record is no row.
  private func look(at entry: RecordFiles.Entry, _ row: RowBuffer) throws -> UInt64? {
    var isWhole = false
    var stamp: UInt64?
    if query.isOrderKept || query.onKept != nil {
      let glance = try files.glance(entry, into: row)
      (isWhole, stamp) = (glance.isWhole, glance.stamp)
      if let onKept = query.onKept, try !row.withRow({ try onKept.matches($0) }) { return nil }
    }
    if !isWhole, !query.isOrderKept {
      let after = try files.read(entry, into: row)
      // Without a stamp it was read from the history: a commit has replaced the file since it was looked at.
      if let stamp, let after, stamp != after { throw files.changedByHand(entry) }
      (isWhole, stamp) = (true, after)
    }
    if isWhole, let residual = query.residual, try !row.withRow({ try residual.matches($0) }) { return nil }
    return stamp ?? 0
  }
}
