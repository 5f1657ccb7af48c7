import PersistenceDriver

/// What the index knows of a record: its kept values, and the status of the file that they were read from.
final class IndexedRecord: Sendable {
  /// Longer values are not kept, but read from their file each time.
  private static let limit = 16_384

  let status: FileStatus
  /// The cells, one after another: a tag, and what the kind takes.
  let values: [UInt8]

  init(status: FileStatus, values: [UInt8]) {
    self.status = status
    self.values = values
  }

  /// Packs the kept values of a row; nil where they are too long.
  convenience init?(_ row: borrowing Row, _ fields: IndexedFields, status: FileStatus) {
    var bytes = ByteWriter()
    for field in fields.fields {
      bytes.put(row[field.position])
      guard bytes.bytes.count <= Self.limit else { return nil }
    }
    self.init(status: status, values: bytes.bytes)
  }

  /// Fills the kept fields of a row, and makes the others nil.
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

  /// Whether the values are what a record of the model can have, and the file is called as its key says: asked once
  /// of values that stood in a file.
  func isPlausible(_ fields: IndexedFields, file: String) -> Bool {
    let isWhole = values.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      for field in fields.fields {
        guard let cell = reader.cell(), Self.fits(cell, field.schema) else { return false }
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

  private static func fits(_ cell: RowCell, _ field: FieldSchema) -> Bool {
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
