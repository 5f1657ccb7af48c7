import PersistenceDriver

/// Walks the records that fit a query, in the order of its path.
final class RowWalk {
  private var entries: EntryWalk
  private let predicate: CompiledPredicate?
  let access: RecordAccess
  let row: RowBuffer
  private let reader: any ByteReader
  private let isIndexed: Bool
  /// The entry that led to the record that was given last.
  private(set) var entry: ByteEntry?
  private var mark = EntryMark(range: 0, skipped: nil)

  /// Begins a walk; it is ended by ``end()``.
  init(_ query: PreparedQuery, _ reader: any ByteReader, from place: WalkPlace = WalkPlace()) throws {
    entries = try EntryWalk(query.path, query.binding, reader: reader, from: place)
    predicate = query.predicate
    access = RecordAccess(query.binding, reader, location: query.location)
    isIndexed = query.path.index != nil
    row = reader.workspace.takeRow(query.binding.layout.count)
    self.reader = reader
  }

  func end() {
    entries.end()
    reader.workspace.giveBack(row)
  }

  /// The stored key and the bytes of the next record that fits; nil at the end.
  func next() throws -> ByteEntry? {
    while let entry = try entries.next() {
      let record = isIndexed ? try entries.record(of: entry) : entry
      if let predicate {
        try access.fill(row, from: record, only: predicate.positions)
        guard try row.withRow({ try predicate.matches($0) }) else { continue }
      }
      self.entry = entry
      mark = entries.mark
      return record
    }
    return nil
  }

  /// Where the walk can be taken up again so that it yields the last record once more.
  var place: WalkPlace { entry.map { entries.place(of: $0, mark) } ?? WalkPlace() }

  /// Lends the record that ``next()`` gave.
  @inline(__always)
  func lend(_ record: ByteEntry, _ body: (borrowing Row) throws -> Void) throws {
    try access.lend(record, row, body)
  }
}
