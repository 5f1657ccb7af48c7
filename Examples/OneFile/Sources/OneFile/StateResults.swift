import PersistenceDriver
import Synchronization
import PersistenceDriverSupport

/// The rows of a request over one copy of a table.
///
/// In the order of the key, records are looked at only as far as somebody asks (contract R1); in another order, the
/// sort keys of those that fit are sorted at once.
final class StateResults: StorageResults {
  private let request: FetchRequest
  private let records: [Record]
  private let targets: [Int]
  private let predicate: CompiledPredicate
  private let progress: Mutex<Progress>

  /// The places in the table of the rows found so far, and where the search goes on.
  private struct Progress {
    var found: [Int] = []
    var next = 0
    var skipped = 0
  }

  init(_ request: FetchRequest, in table: Table?) throws {
    self.request = request
    records = table?.records ?? []
    targets = table?.targets(for: request.schema) ?? []
    predicate = try CompiledPredicate(request.predicateWithAnchor, in: request.schema)
    progress = Mutex(Progress())
    if !request.isInKeyOrder { try sort() }
  }

  func count() throws -> Int {
    try progress.withLock { progress in
      try advance(&progress, to: Int.max)
      return progress.found.count
    }
  }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    let (end, isBeyond) = offset.addingReportingOverflow(limit)
    let places = try progress.withLock { progress in
      try advance(&progress, to: isBeyond ? Int.max : end)
      return progress.found.dropFirst(offset).prefix(limit)
    }
    // Not under the lock: what is done with a row may take long, or read this result again.
    let row = RowBuffer(count: request.schema.fields.count)
    for place in places { try records[place].withRow(row, targets, body) }
    return places.count
  }

  /// Looks on until so many rows are found, or there are no more.
  private func advance(_ progress: inout Progress, to wanted: Int) throws {
    let wanted = min(wanted, request.limit ?? Int.max)
    let row = RowBuffer(count: request.schema.fields.count)
    while progress.found.count < wanted, progress.next < records.count {
      let place = progress.next
      guard try records[place].withRow(row, targets, { try predicate.matches($0) }) else {
        progress.next += 1
        continue
      }
      progress.next += 1
      if progress.skipped < request.offset {
        progress.skipped += 1
      } else {
        progress.found.append(place)
      }
    }
  }

  private func sort() throws {
    let order = try RowOrder(request.totalOrder, in: request.schema)
    let row = RowBuffer(count: request.schema.fields.count)
    var entries: [(key: [PersistentValue], place: Int)] = []
    for (place, record) in records.enumerated() {
      try record.withRow(row, targets) { row in
        if try predicate.matches(row) { entries.append((try order.key(of: row), place)) }
      }
    }
    entries.sort { order.compare($0.key, $1.key) < 0 }
    let page = entries.dropFirst(request.offset).prefix(request.limit ?? Int.max).map(\.place)
    progress.withLock { $0 = Progress(found: page, next: records.count) }
  }
}
