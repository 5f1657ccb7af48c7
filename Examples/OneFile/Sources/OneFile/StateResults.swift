import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

/// The rows of a request over one copy of a table.
///
/// In key order, the search goes only as far as the caller reads (contract R1). In any other order, the initializer
/// sorts the keys of all matches.
final class StateResults: StorageResults {
  private let request: FetchRequest
  private let records: [Record]
  private let targets: [Int]
  private let predicate: CompiledPredicate
  private let progress: Mutex<Progress>

  /// The matches found so far, as positions in the table, and the position where the search continues.
  private struct Progress {
    var found: [Int] = []
    var next = 0
    var skipped = 0
  }

  /// Rows come from memory, so reading many costs no more than reading them one by one.
  let usesRandomAccess = false

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
    let positions = try progress.withLock { progress in
      try advance(&progress, to: isBeyond ? Int.max : end)
      return progress.found.dropFirst(offset).prefix(limit)
    }
    // Outside the lock, because the closure may be slow or read this result again.
    let row = RowBuffer(count: request.schema.fields.count)
    for position in positions { try records[position].withRow(row, targets, body) }
    return positions.count
  }

  /// Continues the search until it has found the wanted number of rows, or the table ends.
  private func advance(_ progress: inout Progress, to wanted: Int) throws {
    let wanted = min(wanted, request.limit ?? Int.max)
    let row = RowBuffer(count: request.schema.fields.count)
    while progress.found.count < wanted, progress.next < records.count {
      let position = progress.next
      if position % 64 == 0 { try ReadInterruption.check() }
      guard try records[position].withRow(row, targets, { try predicate.matches($0) }) else {
        progress.next += 1
        continue
      }
      progress.next += 1
      if progress.skipped < request.offset {
        progress.skipped += 1
      } else {
        progress.found.append(position)
      }
    }
  }

  private func sort() throws {
    let order = try RowOrder(request.totalOrder, in: request.schema)
    let row = RowBuffer(count: request.schema.fields.count)
    var entries: [(key: [PersistentValue], position: Int)] = []
    for (position, record) in records.enumerated() {
      if position % 64 == 0 { try ReadInterruption.check() }
      try record.withRow(row, targets) { row in
        if try predicate.matches(row) { entries.append((try order.key(of: row), position)) }
      }
    }
    entries.sort { order.compare($0.key, $1.key) < 0 }
    let page = entries.dropFirst(request.offset).prefix(request.limit ?? Int.max).map(\.position)
    progress.withLock { $0 = Progress(found: page, next: records.count) }
  }
}
