import PersistenceDriver

/// One record: its key, and its row as the bytes in the file.
///
/// A commit copies these bytes without encoding again, and a read points into them.
struct Record: Sendable {
  let key: RecordKey
  let bytes: [UInt8]
  let checksum: UInt64

  /// Encodes a row of a declared schema, whose fields may have another order than the stored ones.
  init(_ row: borrowing Row, of declared: ModelSchema, in stored: ModelSchema) throws {
    key = try RecordKey(of: row, in: declared)
    var bytes: [UInt8] = []
    for field in stored.fields {
      guard let position = declared.position(of: field.name) else {
        throw PersistenceError.unknownField(field.name, in: declared)
      }
      RowCoding.append(row[position], to: &bytes)
    }
    self.bytes = bytes
    checksum = Self.checksum(of: bytes)
  }

  /// Decodes a record from the file.
  init(_ bytes: UnsafeRawBufferPointer, checksum: UInt64, in stored: ModelSchema) throws {
    self.bytes = [UInt8](bytes)
    self.checksum = checksum
    let row = RowBuffer(count: stored.fields.count)
    var reader = ByteReader(bytes)
    for (position, field) in stored.fields.enumerated() {
      let cell = try RowCoding.cell(&reader)
      guard cell.tag == field.kind.tag || (cell.isNull && field.isOptional) else {
        throw PersistenceError.damaged("a record of \(stored.name) has a value that does not match \(field)")
      }
      row.setCell(cell, at: position)
    }
    guard reader.isAtEnd else {
      throw PersistenceError.damaged("a record of \(stored.name) has bytes after its last field")
    }
    key = try row.withRow { try RecordKey(of: $0, in: stored) }
  }

  /// Passes the record to a closure, as a row of a declared schema that points into the bytes.
  ///
  /// The targets map each stored field to its position in the declared schema: ``Table/targets(for:)``.
  func withRow<Result>(
    _ row: RowBuffer, _ targets: [Int], _ body: (borrowing Row) throws -> Result
  ) throws -> Result {
    try bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      for target in targets { row.setCell(try RowCoding.cell(&reader), at: target) }
      return try row.withRow(body)
    }
  }

  private static func checksum(of bytes: [UInt8]) -> UInt64 {
    var checksum = Checksum()
    bytes.withUnsafeBytes { checksum.add($0) }
    return checksum.value
  }
}
