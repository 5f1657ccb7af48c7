import PersistenceDriver
import Synchronization

/// The rows of a request: the names of all files are known, and the files are read a page at a time.
final class JSONDirectoryResults: StorageResults, @unchecked Sendable {  // mutable state is behind `found`
  private let request: FetchRequest
  private let files: RecordFiles?
  private let entries: [RecordFiles.Entry]
  private let predicate: CompiledPredicate
  private let location: String
  private let found: Mutex<Found>
  /// For each entry what its file was when it was first read; 0 for not yet.
  private let stamps = Mutex<[UInt64]>([])

  /// Which entries are rows of the result, as far as is known.
  private struct Found {
    /// Positions in `entries`, in the order of the result.
    var rows: [Int] = []
    /// The first entry that was not looked at.
    var next = 0
    var skipped = 0
    var isComplete = false
  }

  init(_ request: FetchRequest, _ files: RecordFiles?, location: String) throws {
    self.request = request
    self.files = files
    self.location = location
    predicate = try CompiledPredicate(request.predicateWithAnchor, in: request.schema)
    let entries = try files?.entries() ?? []
    guard Self.isKeyOrder(request) else {
      self.entries = entries
      found = Mutex(Found())
      try sort()
      return
    }
    self.entries = request.totalOrder.first?.isDescending == true ? entries.reversed() : entries
    found = Mutex(Found())
  }

  /// Whether the order is that of the keys, or its reverse.
  static func isKeyOrder(_ request: FetchRequest) -> Bool {
    request.totalOrder.map { StoredName($0.field) } == request.schema.key.map(StoredName.init)
      && Set(request.totalOrder.map(\.isDescending)).count == 1
  }

  func count() throws -> Int {
    if request.predicate == nil, request.after == nil {
      return min(max(0, entries.count - request.offset), request.limit ?? Int.max)
    }
    return try mappingErrors(location: location) {
      try found.withLock { found in
        try advance(&found, to: Int.max)
        return found.rows.count
      }
    }
  }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    guard let files else { return 0 }
    let (end, overflow) = offset.addingReportingOverflow(limit)
    let rows = try mappingErrors(location: location) {
      try found.withLock { found in
        try advance(&found, to: overflow ? Int.max : end)
        return found.rows.dropFirst(offset).prefix(limit)
      }
    }
    let row = RowBuffer(count: request.schema.fields.count)
    for number in rows {
      try mappingErrors(location: location) { try read(number, of: files, into: row) }
      try row.withRow(body)
    }
    return rows.count
  }

  /// Reads the record of an entry, which must be what it was when it was read before.
  private func read(_ number: Int, of files: RecordFiles, into row: RowBuffer) throws {
    guard let stamp = try files.read(entries[number], into: row) else { return }
    let isSame = stamps.withLock { stamps in
      if stamps.isEmpty { stamps = Array(repeating: 0, count: entries.count) }
      if stamps[number] == 0 { stamps[number] = stamp }
      return stamps[number] == stamp
    }
    if !isSame { throw files.changedByHand(entries[number]) }
  }

  /// Looks on until so many rows are found, or the end is reached.
  private func advance(_ found: inout Found, to wanted: Int) throws {
    guard let files, !found.isComplete else { return }
    let wanted = min(wanted, request.limit ?? Int.max)
    let readsFiles = request.predicate != nil || request.after != nil
    let row = RowBuffer(count: readsFiles ? request.schema.fields.count : 0)
    while found.rows.count < wanted, found.next < entries.count {
      let number = found.next
      if readsFiles {
        try read(number, of: files, into: row)
        found.next += 1
        guard try row.withRow({ try predicate.matches($0) }) else { continue }
      } else {
        found.next += 1
      }
      if found.skipped < request.offset { found.skipped += 1 } else { found.rows.append(number) }
    }
    found.isComplete = found.next == entries.count || found.rows.count == request.limit
  }

  /// Reads every file once, and keeps the sort keys of the rows.
  private func sort() throws {
    guard let files else { return }
    let order = try RowOrder(request.totalOrder, in: request.schema)
    let row = RowBuffer(count: request.schema.fields.count)
    var keys: [(key: [PersistentValue], number: Int)] = []
    for number in entries.indices {
      try read(number, of: files, into: row)
      try row.withRow { row in
        if try predicate.matches(row) { keys.append((try order.key(of: row), number)) }
      }
    }
    keys.sort { order.compare($0.key, $1.key) < 0 }
    let rows = keys.dropFirst(request.offset).prefix(request.limit ?? Int.max).map(\.number)
    found.withLock { found in
      found.rows = Array(rows)
      found.isComplete = true
    }
  }
}
