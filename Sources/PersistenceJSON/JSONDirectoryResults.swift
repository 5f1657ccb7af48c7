import PersistenceDriver
import Synchronization
import PersistenceDriverSupport

/// The rows of a request: it lists all files first, and reads them page by page, except those that the index
/// excludes.
final class JSONDirectoryResults: CheckedResults, @unchecked Sendable {  // mutable state is behind `found`
  /// The conditions that remain to be tested.
  private enum Stage {
    /// All except those on the key.
    case nothing
    /// The conditions that need the whole record.
    case keptValues
    /// Nothing.
    case all
  }

  /// The fields that rows must have.
  private enum Need {
    /// Those of the key.
    case key
    /// Those that the index contains.
    case kept
    /// All.
    case whole
  }

  let usesRandomAccess = false
  private let query: RecordQuery
  private let files: RecordFiles?
  private let entries: [RecordFiles.Entry]
  private let stage: Stage
  private let need: Need
  private let location: String
  private let found = Mutex(Found())
  /// For each entry the stamp of its file at the first look; 0 before.
  private let stamps: Mutex<[UInt64]>

  /// The entries known to be rows of the result.
  private struct Found {
    /// Positions in `entries`, in the order of the result.
    var rows: [Int] = []
    /// The first entry not examined yet.
    var next = 0
    var skipped = 0
    var isComplete = false
  }

  init(_ request: FetchRequest, _ files: RecordFiles?, needing positions: [Int]?, location: String) throws {
    self.files = files
    self.location = location
    let fields = files?.indexed ?? IndexedFields(request.schema)
    query = try RecordQuery(request, fields)
    if let positions, positions.allSatisfy(fields.keeps) {
      need = positions.allSatisfy(request.schema.keyPositions.contains) ? .key : .kept
    } else {
      need = .whole
    }
    let all = try files?.entries(for: query) ?? []
    if query.isKeyOrder {
      entries = request.totalOrder.first?.isDescending == true ? all.reversed() : all
      stage = query.onKept == nil && query.residual == nil ? .all : .nothing
      stamps = Mutex([])
    } else if let files {
      var sorting = RecordSorting(query, files, try RowOrder(request.totalOrder, in: request.schema))
      let sorted = try sorting.sort(all)
      entries = sorted.map { all[$0.number] }
      stamps = Mutex(sorted.map(\.stamp))
      stage = query.isOrderKept && query.residual != nil ? .keptValues : .all
    } else {
      entries = []
      stage = .all
      stamps = Mutex([])
    }
  }

  func count() throws -> Int {
    if stage == .all {
      return min(max(0, entries.count - query.request.offset), query.request.limit ?? Int.max)
    }
    return try mappingErrors(location: location) {
      try found.withLock { found in
        try advance(&found, to: Int.max)
        return found.rows.count
      }
    }
  }

  func checkUnread() throws {
    // Sorting has looked at each file.
    guard let files, query.isKeyOrder else { return }
    try mappingErrors(location: location) {
      switch (stage, query.request.limit) {
      case (.all, let limit):
        guard need != .key else { return }
        try check(entries.dropFirst(query.request.offset).prefix(limit ?? entries.count), of: files)
      // Examining entries up to the limit checks those that can be read later.
      case (_, _?): try found.withLock { try advance(&$0, to: Int.max) }
      case (_, nil): try check(entries[...], of: files)
      }
    }
  }

  /// Checks the entries behind those that were read, and remembers their files: an exchanged file may be older than
  /// the result.
  private func check(_ entries: ArraySlice<RecordFiles.Entry>, of files: RecordFiles) throws {
    let start = entries.startIndex
    let known = stamps.withLock { $0.dropFirst(start).prefix { $0 != 0 }.count }
    try files.check(entries.dropFirst(known)) { try requireSame($0, $1, files) }
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
    let row = RowBuffer(count: query.request.schema.fields.count)
    var texts = TextsAhead(of: files, entries, at: rows)
    for number in rows {
      if number & 0x3F == 0 { try ReadInterruption.check() }
      try mappingErrors(location: location) {
        switch need {
        case .key: files.fillKey(row, entries[number])
        case .kept: _ = try glance(number, of: files, into: row)
        case .whole: try fill(row, from: try texts.next(), number, of: files)
        }
      }
      try row.withRow(body)
    }
    return rows.count
  }

  /// Fills a row from the text of a record of the result, which must be unchanged.
  private func fill(_ row: RowBuffer, from text: FileText?, _ number: Int, of files: RecordFiles) throws {
    if let stamp = try files.fill(row, from: text, entries[number]) { try requireSame(number, stamp, files) }
    // An edit of the same size within a tick of the clock does not change the status.
    guard let whole = query.whole, try !row.withRow({ try whole.matches($0) }) else { return }
    throw files.changedByHand(entries[number])
  }

  /// Reads the record of an entry, which must be unchanged since the first look.
  private func read(_ number: Int, of files: RecordFiles, into row: RowBuffer) throws {
    guard let stamp = try files.read(entries[number], into: row) else { return }
    try requireSame(number, stamp, files)
  }

  /// Sets at least the indexed fields of a row; returns whether it set all fields.
  private func glance(_ number: Int, of files: RecordFiles, into row: RowBuffer) throws -> Bool {
    let glance = try files.glance(entries[number], into: row)
    if let stamp = glance.stamp { try requireSame(number, stamp, files) }
    return glance.isWhole
  }

  private func requireSame(_ number: Int, _ stamp: UInt64, _ files: RecordFiles) throws {
    let isSame = stamps.withLock { stamps in
      if stamps.isEmpty { stamps = Array(repeating: 0, count: entries.count) }
      if stamps[number] == 0 { stamps[number] = stamp }
      return stamps[number] == stamp
    }
    if !isSame { throw files.changedByHand(entries[number]) }
  }

  /// Examines entries until it has found a number of rows, or reaches the end.
  private func advance(_ found: inout Found, to wanted: Int) throws {
    guard let files, !found.isComplete else { return }
    let request = query.request
    let wanted = min(wanted, request.limit ?? Int.max)
    let row = RowBuffer(count: stage == .all ? 0 : request.schema.fields.count)
    while found.rows.count < wanted, found.next < entries.count {
      let number = found.next
      if number & 0x3F == 0 { try ReadInterruption.check() }
      let isRow = try isRow(number, of: files, row)
      found.next += 1
      guard isRow else { continue }
      if found.skipped < request.offset { found.skipped += 1 } else { found.rows.append(number) }
    }
    found.isComplete = found.next == entries.count || found.rows.count == request.limit
    if found.isComplete, stage == .nothing { files.saveIndex() }
  }

  /// Tests the remaining conditions on an entry.
  private func isRow(_ number: Int, of files: RecordFiles, _ row: RowBuffer) throws -> Bool {
    if stage == .all { return true }
    var isWhole = false
    if stage == .nothing, let onKept = query.onKept {
      isWhole = try glance(number, of: files, into: row)
      guard try row.withRow({ try onKept.matches($0) }) else { return false }
    }
    guard let residual = query.residual else { return true }
    if !isWhole { try read(number, of: files, into: row) }
    return try row.withRow { try residual.matches($0) }
  }
}
