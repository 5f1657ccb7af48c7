import PersistenceDriver

/// The index entry of a record: its indexed values, and the status of the file at that time.
final class IndexedRecord: Sendable {
  /// The size limit of an entry; longer values are read from the file each time.
  private static let limit = 16_384

  let status: FileStatus
  /// The encoded cells, one after another.
  let values: [UInt8]

  init(status: FileStatus, values: [UInt8]) {
    self.status = status
    self.values = values
  }

  /// Encodes the indexed values of a row; nil if they are too long.
  convenience init?(_ row: borrowing Row, _ fields: IndexedFields, status: FileStatus) {
    var bytes = ByteWriter()
    for field in fields.fields {
      bytes.put(row[field.position])
      guard bytes.bytes.count <= Self.limit else { return nil }
    }
    self.init(status: status, values: bytes.bytes)
  }

  /// Sets the indexed fields of a row, and all others to nil.
  func fill(_ row: RowBuffer, _ fields: IndexedFields) {
    row.reset()
    values.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      for field in fields.fields {
        guard let cell = reader.cell() else { return }
        row.setCopy(of: cell, at: field.position)
      }
    }
  }

  /// Whether the values are valid for the model, and the key matches the file name.
  ///
  /// The engine checks this once, when it reads an index file.
  func isPlausible(_ fields: IndexedFields, file: String) -> Bool {
    let isWhole = values.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      for field in fields.fields {
        guard let cell = reader.cell(), Self.matches(cell, field.schema) else { return false }
      }
      return reader.isAtEnd
    }
    guard isWhole else { return false }
    let row = RowBuffer(count: fields.schema.fields.count)
    fill(row, fields)
    let key = try? row.withRow { try RecordKey(of: $0, in: fields.schema) }
    guard let key, (try? key.validate(for: fields.schema)) != nil else { return false }
    return FileName.file(for: key).utf8.elementsEqual(file.utf8)
  }

  private static func matches(_ cell: RowCell, _ field: FieldSchema) -> Bool {
    if cell.isNull { return field.isOptional }
    guard cell.tag == field.kind.tag else { return false }
    switch cell.tag {
    case .integer: return field.kind.integerRange?.contains(cell.integerValue) ?? false
    case .text: return String(validating: cell.borrowedText, as: UTF8.self) != nil
    case .decimal: return (try? cell.decimalValue()) != nil
    case .document: return false
    default: return true
    }
  }
}
