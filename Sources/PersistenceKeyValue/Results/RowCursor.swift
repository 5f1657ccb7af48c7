import PersistenceDriver
import PersistenceDriverSupport

/// Walks the records that fit a query, in the order of its path.
///
/// What the keys of the path decide is decided before a record is read, and a walk that is asked for fields which
/// the keys hold reads no record at all, but for keys that were cut.
final class RowCursor {
  @exclusivity(unchecked) private var entries: IndexCursor
  private let query: PreparedQuery
  /// The query's predicate, which ``query`` keeps alive: references are not counted for each row.
  private let program: Unmanaged<PredicateProgram>?
  /// What is left of it where the key has been looked at.
  private let restProgram: Unmanaged<PredicateProgram>?
  /// The same where it can be decided in place.
  private let condition: PackedCondition?
  private let conditionInUse: Unmanaged<PackedCondition>?
  let access: RecordAccess
  let row: RowBuffer
  private let reader: any ByteReader
  private let isIndexed: Bool
  /// Which fields ``row`` holds after ``next()``; nil where records are lent whole.
  private let wanted: [Int]?
  /// What is read of a key: nothing where no key is read.
  private let keySteps: [Int?]
  private let isKeyOnly: Bool
  /// Whether keys are looked at, where they are not cut.
  private let decidesByKey: Bool
  /// What is read of a record that fits, beside what the condition has read: of most records nothing is.
  private let wantedPositions: UnsafeMutableBufferPointer<Int>
  private let others: KeySet?
  private let storedKeyBuffer: ByteBuffer
  @exclusivity(unchecked) private var hasCopied = false
  /// The entry that led to the record that was given last.
  @exclusivity(unchecked) private(set) var entry: ByteEntry?
  /// The record; nil where it was not read.
  @exclusivity(unchecked) private var record: ByteEntry?
  @exclusivity(unchecked) private var mark = EntryMark(range: 0, skipped: nil)

  /// Begins a walk; it is ended by ``end()``.
  ///
  /// - Parameters:
  ///   - query: What is walked.
  ///   - reader: Where it is read.
  ///   - place: Where it begins.
  ///   - wanted: The fields that ``row`` is to hold after each step; nil where records are lent whole.
  /// - Throws: ``PersistenceError`` where the store cannot be read.
  init(
    _ query: PreparedQuery, _ reader: any ByteReader, from place: Bookmark = Bookmark(),
    filling wanted: [Int]? = nil
  ) throws {
    others = try query.intersected(reader)
    entries = try IndexCursor(query.path, query.binding, reader: reader, from: place)
    self.query = query
    program = query.predicate.map { Unmanaged.passUnretained($0.program) }
    self.reader = reader
    self.wanted = wanted
    access = RecordAccess(query.binding, reader, location: query.location)
    isIndexed = query.path.index != nil
    isKeyOnly = wanted.map(query.isKeyOnly) ?? false
    let readsKeys = isKeyOnly || (isIndexed && query.keyPredicate != nil)
    let fromKey = (query.keyPredicate?.positions ?? []) + (isKeyOnly ? wanted ?? [] : [])
    keySteps = readsKeys ? query.fields.reading(fromKey) : []
    condition =
      readsKeys ? nil : query.predicate.flatMap { PackedCondition($0.program, in: query.binding.layout) }
    conditionInUse = condition.map { Unmanaged.passUnretained($0) }
    let tested = condition == nil ? readsKeys ? query.restPredicate : query.predicate : nil
    restProgram = readsKeys ? query.restPredicate.map { Unmanaged.passUnretained($0.program) } : nil
    // Those that a condition reads of a record whose key is cut are read once more, which is rare.
    let more = Set(wanted ?? []).subtracting(tested?.positions ?? []).sorted()
    wantedPositions = .allocate(capacity: more.count)
    _ = wantedPositions.initialize(from: more)
    decidesByKey = readsKeys
    row = reader.workspace.takeRow(query.binding.layout.count)
    storedKeyBuffer = reader.workspace.takeBuffer()
  }

  func end() {
    entries.end()
    reader.workspace.giveBack(row)
    reader.workspace.giveBack(storedKeyBuffer)
    wantedPositions.deallocate()
  }

  /// The stored key and the bytes of the next record that fits, or its entry where no record is read; nil at the
  /// end.
  func next() throws -> ByteEntry? {
    while let entry = try entries.next() {
      let isKeyRead = decidesByKey && !query.path.form.isCut(entry.key)
      if isKeyRead, try !fitsByKey(entry) { continue }
      if let others, try !others.contains(storedKey(of: entry)) { continue }
      if isKeyRead && isKeyOnly {
        record = nil
      } else {
        let record = isIndexed ? try entries.record(of: entry) : entry
        guard try fits(record, isKeyRead) else { continue }
        self.record = record
      }
      self.entry = entry
      mark = entries.mark
      return record ?? entry
    }
    return nil
  }

  /// Fills what is read of a key that is not cut; says whether it fits what keys decide.
  private func fitsByKey(_ entry: ByteEntry) throws -> Bool {
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

  /// Whether a record fits what its key has not decided; fills what is wanted of one that does.
  @inline(__always)
  private func fits(_ record: ByteEntry, _ isKeyRead: Bool) throws -> Bool {
    guard let conditionInUse else { return try fits(record, isKeyRead, check: .nothing) }
    switch conditionInUse._withUnsafeGuaranteedRef({ $0.decide(record.value) }) {
    case .fails: return false
    case .fits: return try wantedPositions.isEmpty || fits(record, isKeyRead, check: .fixedPart)
    case .damaged: return try fits(record, isKeyRead, check: .nothing)
    }
  }

  /// The same by the fields, for a record whose fixed part is known to be sound where the condition is met.
  @inline(never)
  private func fits(_ record: ByteEntry, _ isKeyRead: Bool, check: RowCheck) throws -> Bool {
    var check = check
    if check == .nothing, let program = isKeyRead ? restProgram : program {
      let fits = try program._withUnsafeGuaranteedRef { program in
        try access.fill(row, from: record, only: program.positions, &check)
        return try row.withRow { try program.matches($0) }
      }
      guard fits else { return false }
    }
    if !wantedPositions.isEmpty {
      try access.fill(row, from: record, only: UnsafeBufferPointer(wantedPositions), &check)
    }
    return true
  }

  /// Where the walk can be taken up again so that it yields the last record once more.
  var place: Bookmark { entry.map { entries.place(of: $0, mark) } ?? Bookmark() }

  /// Where the record lies that was given last; nil where it was not read.
  var recordPlace: UnsafeRawBufferPointer? { record?.value }

  /// The stored key of the record that was given last, valid until the next step.
  func storedKey() throws -> UnsafeRawBufferPointer {
    if let record { return record.key }
    return try entry.map(storedKey) ?? UnsafeRawBufferPointer(start: nil, count: 0)
  }

  private func storedKey(of entry: ByteEntry) throws -> UnsafeRawBufferPointer {
    guard isIndexed else { return entry.key }
    storedKeyBuffer.clear()
    try IndexEntry.appendRecordKey(of: entry, prefix: query.binding.prefix, to: storedKeyBuffer)
    return storedKeyBuffer.bytes
  }

  /// Lends the record that ``next()`` gave.
  @inline(__always)
  func lend(_ record: ByteEntry, _ body: (borrowing Row) throws -> Void) throws {
    try access.lend(record, row, body)
  }
}
