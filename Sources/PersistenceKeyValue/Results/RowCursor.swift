import PersistenceDriver
import PersistenceDriverSupport

/// Iterates over the records that match a query, in the order of its path.
///
/// The cursor evaluates conditions on the path's keys before it reads a record. If the keys contain all
/// requested fields, it reads records only for cut keys.
final class RowCursor {
  @exclusivity(unchecked) private var entries: IndexCursor
  private let query: PreparedQuery
  /// The query's predicate; ``query`` keeps it alive, which avoids reference counting for each row.
  private let program: Unmanaged<PredicateProgram>?
  /// The part of the predicate that remains after the key was evaluated.
  private let restProgram: Unmanaged<PredicateProgram>?
  /// The predicate in a form that is evaluated in place; nil if it has no such form.
  private let condition: PackedCondition?
  private let conditionInUse: Unmanaged<PackedCondition>?
  let access: RecordAccess
  let row: RowBuffer
  private let workspace: KeyValueWorkspace
  private let isIndexed: Bool
  /// The fields that ``row`` contains after ``next()``; nil if the caller reads whole records.
  private let wanted: [Int]?
  /// The fields to decode from each key component; empty if no key is decoded.
  private let keySteps: [Int?]
  private let isKeyOnly: Bool
  /// Whether keys that are not cut are decoded.
  private let decidesByKey: Bool
  /// The fields to decode from a matching record beyond those that the condition decoded; most records have
  /// none.
  private let wantedPositions: UnsafeMutableBufferPointer<Int>
  /// Whether every entry matches, and nothing is decoded.
  private let isUnconditional: Bool
  private let intersection: KeySet?
  private let storedKeyBuffer: ByteBuffer
  @exclusivity(unchecked) private var hasCopied = false
  /// The entry of the last returned record.
  @exclusivity(unchecked) private(set) var entry: OrderedEntry?
  /// The last returned record; nil if it was not read.
  @exclusivity(unchecked) private var record: OrderedEntry?
  @exclusivity(unchecked) private var mark = EntryMark(range: 0, skipped: nil)

  /// Opens a cursor that fills ``row`` with the wanted fields; with nil, the caller reads whole records.
  ///
  /// The caller closes it with ``close()``.
  init(
    _ query: PreparedQuery, _ reader: any ByteReader, from bookmark: Bookmark = Bookmark(),
    filling wanted: [Int]? = nil
  ) throws {
    intersection = try query.intersected(reader)
    entries = try IndexCursor(query.path, query.binding, reader: reader, from: bookmark)
    self.query = query
    program = query.predicate.map { Unmanaged.passUnretained($0.program) }
    self.wanted = wanted
    access = RecordAccess(query.binding, reader, location: query.location)
    isIndexed = query.path.index != nil
    isKeyOnly = wanted.map(query.isKeyOnly) ?? false
    let readsKeys = isKeyOnly || (isIndexed && query.keyPredicate != nil)
    // Most cursors decode no keys, and make no lists of fields.
    if readsKeys {
      let fromKey = (query.keyPredicate?.positions ?? []) + (isKeyOnly ? wanted ?? [] : [])
      keySteps = query.fields.reading(fromKey)
    } else {
      keySteps = []
    }
    condition =
      readsKeys ? nil : query.predicate.flatMap { PackedCondition($0.program, in: query.binding.layout) }
    conditionInUse = condition.map { Unmanaged.passUnretained($0) }
    let tested = condition == nil ? readsKeys ? query.restPredicate : query.predicate : nil
    restProgram = readsKeys ? query.restPredicate.map { Unmanaged.passUnretained($0.program) } : nil
    // A record with a cut key decodes the condition's fields twice, which is rare.
    let more = wanted.map { Set($0).subtracting(tested?.positions ?? []).sorted() } ?? []
    // Most cursors read whole records, and need no memory for positions.
    wantedPositions =
      more.isEmpty ? UnsafeMutableBufferPointer(start: nil, count: 0) : .allocate(capacity: more.count)
    _ = wantedPositions.initialize(from: more)
    isUnconditional = query.predicate == nil && more.isEmpty
    decidesByKey = readsKeys
    workspace = reader.workspace
    row = workspace.acquireRow(query.binding.layout.count)
    storedKeyBuffer = workspace.acquireBuffer()
  }

  func close() {
    entries.close()
    workspace.release(row)
    workspace.release(storedKeyBuffer)
    wantedPositions.deallocate()
  }

  /// The stored key and bytes of the next matching record, or its entry if no record is read; nil at the end.
  func next() throws -> OrderedEntry? {
    while let entry = try entries.next() {
      let isKeyRead = decidesByKey && !query.path.form.isCut(entry.key)
      if isKeyRead, try !matchesByKey(entry) { continue }
      if let intersection, try !intersection.contains(storedKey(of: entry)) { continue }
      if isKeyRead && isKeyOnly {
        record = nil
      } else {
        let record = isIndexed ? try entries.record(of: entry) : entry
        guard try isUnconditional || matches(record, isKeyRead) else { continue }
        self.record = record
      }
      self.entry = entry
      mark = entries.mark
      return record ?? entry
    }
    return nil
  }

  /// Decodes a key that is not cut; returns whether it matches the conditions on keys.
  private func matchesByKey(_ entry: OrderedEntry) throws -> Bool {
    if hasCopied { row.reset() }
    do {
      hasCopied = try query.fields.fill(row, from: entry.key, keySteps)
    } catch {
      throw (error as? PersistenceError)?.at(model: query.binding.declared.name, location: query.location)
        ?? error
    }
    guard let predicate = query.keyPredicate else { return true }
    return try row.withRow { try predicate.matches($0) }
  }

  /// Whether a record matches the remaining conditions; decodes the requested fields of a matching one.
  @inline(__always)
  private func matches(_ record: OrderedEntry, _ isKeyRead: Bool) throws -> Bool {
    guard let conditionInUse else { return try matches(record, isKeyRead, check: .nothing) }
    switch conditionInUse._withUnsafeGuaranteedRef({ $0.decide(record.value) }) {
    case .fails: return false
    case .matches: return try wantedPositions.isEmpty || matches(record, isKeyRead, check: .fixedPart)
    case .damaged: return try matches(record, isKeyRead, check: .nothing)
    }
  }

  /// The same by decoding fields; skips a condition that was already evaluated on a record whose fixed part
  /// is sound.
  @inline(never)
  private func matches(_ record: OrderedEntry, _ isKeyRead: Bool, check: RowCheck) throws -> Bool {
    var check = check
    if check == .nothing, let program = isKeyRead ? restProgram : program {
      let isMatch = try program._withUnsafeGuaranteedRef { program in
        try access.fill(row, from: record, only: program.positions, &check)
        return try row.withRow { try program.matches($0) }
      }
      guard isMatch else { return false }
    }
    if !wantedPositions.isEmpty {
      try access.fill(row, from: record, only: UnsafeBufferPointer(wantedPositions), &check)
    }
    return true
  }

  /// The bookmark from which a cursor returns the last record again.
  var bookmark: Bookmark { entry.map { entries.bookmark(of: $0, mark) } ?? Bookmark() }

  /// The address of the last returned record; nil if it was not read.
  var recordAddress: UnsafeRawBufferPointer? { record?.value }

  /// The stored key of the last returned record, valid until the next step.
  func storedKey() throws -> UnsafeRawBufferPointer {
    if let record { return record.key }
    return try entry.map(storedKey) ?? UnsafeRawBufferPointer(start: nil, count: 0)
  }

  private func storedKey(of entry: OrderedEntry) throws -> UnsafeRawBufferPointer {
    guard isIndexed else { return entry.key }
    storedKeyBuffer.clear()
    try IndexEntry.appendRecordKey(of: entry, prefix: query.binding.prefix, to: storedKeyBuffer)
    return storedKeyBuffer.bytes
  }

  /// Decodes the record that ``next()`` returned and passes it to a closure.
  @inline(__always)
  func read(_ record: OrderedEntry, _ body: (borrowing Row) throws -> Void) throws {
    try access.read(record, row, body)
  }
}

/// Reorders the fields that a cursor has filled into the selection's order.
///
/// The selection is pushed down: a cursor decodes no other fields, and often reads no record. `SelectedResults` of
/// PersistenceDriverSupport would decode whole rows first.
struct PushedDownSelection {
  private let positions: [Int]
  private let isCopying: Bool
  private let selected: RowBuffer

  /// Selects fields, of which one may occur twice; copies bytes that may move while the closure uses them.
  init(_ positions: [Int], copying isCopying: Bool) {
    self.positions = positions
    self.isCopying = isCopying
    selected = RowBuffer(count: positions.count)
  }

  func apply(to row: RowBuffer, _ body: (borrowing Row) throws -> Void) throws {
    if isCopying { selected.reset() }
    row.withRow { row in
      for (index, position) in positions.enumerated() {
        if isCopying {
          selected.setCopy(of: row[position], at: index)
        } else {
          selected.setCell(row[position], at: index)
        }
      }
    }
    try selected.withRow(body)
  }
}
