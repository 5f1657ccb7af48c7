import PersistenceDriver

/// Reads single records of a model, by key or by stored key.
struct RecordAccess {
  private let binding: ModelBinding
  private let reader: any ByteReader
  private let location: String
  private let lendsCopies: Bool

  init(_ binding: ModelBinding, _ reader: any ByteReader, location: String) {
    self.binding = binding
    self.reader = reader
    self.location = location
    lendsCopies = reader.lendsCopies
  }

  /// Lends the record of a key; says whether there was one.
  func find(_ key: RecordKey, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    let workspace = reader.workspace
    let stored = workspace.takeBuffer()
    defer { workspace.giveBack(stored) }
    try binding.appendKey(key, to: stored)
    KeyForm.records(longest: reader.longestKey).storeRecordKey(stored)
    guard let record = try reader.value(of: stored.bytes, in: .records) else { return false }
    let row = workspace.takeRow(binding.layout.count)
    defer { workspace.giveBack(row) }
    try lend(ByteEntry(key: stored.bytes, value: record), row, body)
    return true
  }

  /// Lends a record that was found.
  @inline(__always)
  func lend(_ record: ByteEntry, _ row: RowBuffer, _ body: (borrowing Row) throws -> Void) throws {
    if lendsCopies { row.reset() }
    do {
      try binding.layout.fill(row, from: record.value)
    } catch {
      throw located(error, record)
    }
    if lendsCopies { row.copyCells() }
    try row.withRow(body)
  }

  /// Lends some fields of a record that was found.
  @inline(__always)
  func fill(_ row: RowBuffer, from record: ByteEntry, only positions: [Int]) throws {
    var check = RowCheck.nothing
    try positions.withUnsafeBufferPointer { try fill(row, from: record, only: $0, &check) }
  }

  /// The same for positions that are not counted as in use, where some of the record may have been checked.
  @inline(__always)
  func fill(
    _ row: RowBuffer, from record: ByteEntry, only positions: UnsafeBufferPointer<Int>,
    _ check: inout RowCheck
  ) throws {
    do {
      try binding.layout.fill(row, from: record.value, only: positions, &check)
    } catch {
      throw located(error, record)
    }
  }

  /// An error with the model, key and store that it is about.
  func located(_ error: any Error, _ record: ByteEntry) -> any Error {
    guard let error = error as? PersistenceError else { return error }
    let form = KeyForm.records(longest: reader.longestKey)
    return error.at(
      model: binding.declared.name, key: binding.recordKey(stored: record.key, form: form), location: location
    )
  }
}

extension RowBuffer {
  /// Copies what the cells point at into memory of the buffer.
  func copyCells() {
    withRow { row in
      for position in 0..<count { setCopy(of: row[position], at: position) }
    }
  }
}
