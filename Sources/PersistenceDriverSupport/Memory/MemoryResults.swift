import Synchronization
import PersistenceDriver

/// The rows of a request over one copy of a table: filtered lazily in key order, or sorted once for any other
/// order.
final class MemoryResults: StorageResults {
  private let request: FetchRequest
  private let table: MemoryTable?
  private let positions: [Int]?
  private let predicate: CompiledPredicate
  private let state: Mutex<Found>

  /// The records found so far, and the position at which the scan continues.
  private struct Found {
    var records: [MemoryTable.Record] = []
    var chunk = 0
    var offset = 0
    var skipped = 0
    var isComplete = false
  }

  let usesRandomAccess = false

  /// Prepares the rows of a table; nil has no rows.
  init(_ request: FetchRequest, table: MemoryTable?) throws {
    self.request = request
    self.table = table
    positions = table.flatMap { MemoryRows.positions(of: request.schema, in: $0.schema) }
    predicate = try CompiledPredicate(request.predicateWithAnchor, in: request.schema)
    state = Mutex(Found())
    if !request.isInKeyOrder { try sort() }
  }

  func count() throws -> Int {
    try state.withLock { found in
      try advance(&found, to: Int.max)
      return found.records.count
    }
  }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    let (end, _) = offset.addingReportingOverflow(limit)
    let records = try state.withLock { found -> ArraySlice<MemoryTable.Record> in
      try advance(&found, to: end < offset ? Int.max : end)
      return found.records.dropFirst(offset).prefix(limit)
    }
    let row = RowBuffer(count: request.schema.fields.count)
    for record in records {
      MemoryRows.fill(row, with: record, positions: positions)
      try row.withRow(body)
    }
    return records.count
  }

  /// Continues the scan until it has found the wanted number of records, or reached the end.
  private func advance(_ found: inout Found, to wanted: Int) throws {
    guard !found.isComplete, let table else { return }
    let wanted = min(wanted, request.limit ?? Int.max)
    let row = RowBuffer(count: request.schema.fields.count)
    while found.records.count < wanted, found.chunk < table.chunks.count {
      let chunk = table.chunks[found.chunk]
      while found.records.count < wanted, found.offset < chunk.count {
        // A condition can have thousands of text searches, so few records take long.
        if found.offset & 0x3F == 0 { try ReadInterruption.check() }
        let record = chunk[found.offset]
        MemoryRows.fill(row, with: record, positions: positions)
        let isWanted = try row.withRow { try predicate.matches($0) }
        // Behind the condition, which may throw: the next read begins with the same record (contract R4).
        found.offset += 1
        guard isWanted else { continue }
        if found.skipped < request.offset {
          found.skipped += 1
        } else {
          found.records.append(record)
        }
      }
      if found.offset == chunk.count {
        found.chunk += 1
        found.offset = 0
      }
    }
    if found.chunk == table.chunks.count || found.records.count == request.limit { found.isComplete = true }
  }

  private func sort() throws {
    guard let table else { return }
    let order = try RowOrder(request.totalOrder, in: request.schema)
    let row = RowBuffer(count: request.schema.fields.count)
    var entries: [(key: [PersistentValue], record: MemoryTable.Record)] = []
    for chunk in table.chunks {
      for (offset, record) in chunk.enumerated() {
        if offset & 0x3F == 0 { try ReadInterruption.check() }
        MemoryRows.fill(row, with: record, positions: positions)
        try row.withRow { row in
          if try predicate.matches(row) { entries.append((try order.key(of: row), record)) }
        }
      }
    }
    entries.sort { order.compare($0.key, $1.key) < 0 }
    let page = entries.dropFirst(request.offset).prefix(request.limit ?? Int.max)
    state.withLock { found in
      found.records = page.map(\.record)
      found.isComplete = true
    }
  }
}
