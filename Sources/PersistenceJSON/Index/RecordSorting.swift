import PersistenceDriver
import PersistenceDriverSupport

/// Sorts records in memory by fields other than the key.
///
/// If the index contains these fields, the sort opens no file with a valid entry; otherwise it reads each
/// file once.
struct RecordSorting {
  /// A row that may belong to the result, by its position among the entries.
  struct Candidate {
    var key: [PersistentValue]
    var number: Int
    /// The stamp of its file, or 0 if the file cannot change.
    var stamp: UInt64
  }

  private let query: RecordQuery
  private let files: RecordFiles
  private let order: RowOrder
  /// The maximum number of rows that the result needs.
  private let limit: Int
  private var candidates: [Candidate] = []

  init(_ query: RecordQuery, _ files: RecordFiles, _ order: RowOrder) {
    self.query = query
    self.files = files
    self.order = order
    let isDecided = !query.isOrderKept || query.residual == nil
    let (end, overflow) = query.request.offset.addingReportingOverflow(query.request.limit ?? Int.max)
    limit = isDecided && !overflow ? end : Int.max
  }

  /// The candidate rows, in the order of the result.
  ///
  /// If the order uses indexed values only, the caller still has to test the conditions that need the whole
  /// record.
  mutating func sort(_ entries: [RecordFiles.Entry]) throws -> [Candidate] {
    let row = RowBuffer(count: query.request.schema.fields.count)
    for (number, entry) in entries.enumerated() {
      if number & 0x3F == 0 { try ReadInterruption.check() }
      guard let stamp = try look(at: entry, row) else { continue }
      candidates.append(
        Candidate(key: try row.withRow { try order.key(of: $0) }, number: number, stamp: stamp))
      // Sorting from time to time discards candidates beyond the limit.
      if candidates.count / 2 > max(limit, 512) { settle() }
    }
    settle()
    files.saveIndex()
    return candidates
  }

  private mutating func settle() {
    candidates.sort { order.compare($0.key, $1.key) < 0 }
    if candidates.count > limit { candidates.removeLast(candidates.count - limit) }
  }

  /// Reads the fields of the order, and tests the conditions that they allow; nil if the record does not
  /// match.
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
      // Without a stamp the text is from the history: a commit replaced the file in the meantime.
      if let stamp, let after, stamp != after { throw files.changedByHand(entry) }
      (isWhole, stamp) = (true, after)
    }
    if isWhole, let residual = query.residual, try !row.withRow({ try residual.matches($0) }) { return nil }
    return stamp ?? 0
  }
}
