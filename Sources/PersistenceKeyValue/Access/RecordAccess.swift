import PersistenceDriver

/// Reads single records of a model, by key or by stored key.
struct RecordAccess {
  private let binding: ModelBinding
  private let reader: any ByteReader
  private let location: String
  private let copiesRows: Bool

  init(_ binding: ModelBinding, _ reader: any ByteReader, location: String) {
    self.binding = binding
    self.reader = reader
    self.location = location
    copiesRows = reader.copiesRows
  }

  /// Passes the record of a key to a closure; returns whether the record exists.
  static func find(
    _ key: RecordKey, _ binding: ModelBinding, _ reader: any ByteReader, _ workspace: KeyValueWorkspace,
    location: String, _ body: (borrowing Row) throws -> Void
  ) throws -> Bool {
    let stored = workspace.acquireBuffer()
    defer { workspace.release(stored) }
    try binding.appendKey(key, to: stored)
    binding.storeRecordKey(stored, longest: reader.longestKey)
    guard let record = try reader.value(of: stored.bytes, in: .records) else { return false }
    try pass(
      OrderedEntry(key: stored.bytes, value: record), binding, reader, workspace, location: location, body)
    return true
  }

  /// Passes a stored record to a closure.
  ///
  /// It makes an instance, which counts references, only for a record that cannot be read in place.
  @inline(__always)
  static func pass(
    _ record: OrderedEntry, _ binding: ModelBinding, _ reader: any ByteReader, _ workspace: KeyValueWorkspace,
    location: String, _ body: (borrowing Row) throws -> Void
  ) throws {
    if !reader.copiesRows, let packed = binding.layout.record(in: record.value) {
      return try body(Row(packed: packed, count: binding.layout.count))
    }
    let row = workspace.acquireRow(binding.layout.count)
    defer { workspace.release(row) }
    try RecordAccess(binding, reader, location: location).read(record, row, body)
  }

  /// Passes a stored record to a closure; the row buffer serves where the record cannot be read in place.
  @inline(__always)
  func read(_ record: OrderedEntry, _ row: RowBuffer, _ body: (borrowing Row) throws -> Void) throws {
    guard copiesRows else { return try borrow(record, row, body) }
    try load(record, into: row)
    try row.withRow(body)
  }

  /// Decodes all fields of a stored record.
  func load(_ record: OrderedEntry, into row: RowBuffer) throws {
    if copiesRows { row.reset() }
    do {
      try binding.layout.fill(row, from: record.value)
    } catch {
      throw located(error, record)
    }
    if copiesRows { row.copyCells() }
  }

  /// The same without copying, for a closure that calls nothing of the store.
  @inline(__always)
  func borrow(_ record: OrderedEntry, _ row: RowBuffer, _ body: (borrowing Row) throws -> Void) throws {
    if let packed = binding.layout.record(in: record.value) {
      return try body(Row(packed: packed, count: binding.layout.count))
    }
    do {
      try binding.layout.fill(row, from: record.value)
    } catch {
      throw located(error, record)
    }
    try row.withRow(body)
  }

  /// Decodes some fields of a stored record.
  @inline(__always)
  func fill(_ row: RowBuffer, from record: OrderedEntry, only positions: [Int]) throws {
    var check = RowCheck.nothing
    try positions.withUnsafeBufferPointer { try fill(row, from: record, only: $0, &check) }
  }

  /// The same for unretained positions, if a part of the record may have been checked already.
  @inline(__always)
  func fill(
    _ row: RowBuffer, from record: OrderedEntry, only positions: UnsafeBufferPointer<Int>,
    _ check: inout RowCheck
  ) throws {
    do {
      try binding.layout.fill(row, from: record.value, only: positions, &check)
    } catch {
      throw located(error, record)
    }
  }

  /// Checks a whole record and decodes some of its fields; returns false if it has an earlier revision.
  @inline(__always)
  func fillChecked(_ row: RowBuffer, from record: OrderedEntry, only positions: [Int]) throws -> Bool {
    var check = RowCheck.nothing
    try positions.withUnsafeBufferPointer { try fill(row, from: record, only: $0, &check) }
    guard check != .nothing else { return false }
    do { try binding.layout.checkRest(of: record.value, &check) } catch { throw located(error, record) }
    return true
  }

  /// An error with the model, the key and the store's location.
  func located(_ error: any Error, _ record: OrderedEntry) -> any Error {
    guard let error = error as? PersistenceError else { return error }
    let form = KeyForm.records(longest: reader.longestKey)
    return error.at(
      model: binding.declared.name, key: binding.recordKey(stored: record.key, form: form), location: location
    )
  }
}

extension RowBuffer {
  /// Copies borrowed bytes into memory of the buffer.
  func copyCells() {
    withRow { row in
      for position in 0..<count { setCopy(of: row[position], at: position) }
    }
  }
}
