import PersistenceDriver
import PersistenceSQL

/// Rows for `COPY … FROM STDIN`, in the server's binary format.
///
/// The format is documented with the statement COPY: a header, a count of fields and their lengths for each row, and an
/// end.
struct PostgresCopy {
  /// How many bytes wait before they are sent.
  static let byteLimit = 4 << 20

  let model: PostgresModel
  private(set) var bytes: [UInt8]

  init(into model: PostgresModel) {
    self.model = model
    bytes = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0]
    // Flags, and the length of an extension.
    bytes += [UInt8](repeating: 0, count: 8)
  }

  /// Appends a row of the declared schema.
  mutating func append(_ row: borrowing Row) {
    bytes.append(bigEndian: Int16(truncatingIfNeeded: row.count))
    for position in 0..<row.count {
      let cell = row[position]
      guard !cell.isNull else {
        bytes.append(bigEndian: Int32(-1))
        continue
      }
      let start = bytes.count
      bytes.append(bigEndian: Int32(0))
      PostgresParameters.append(cell, to: &bytes)
      // A row has far less than 2 GiB.
      let length = Int32(truncatingIfNeeded: bytes.count - start - 4)
      withUnsafeBytes(of: length.bigEndian) { bytes.replaceSubrange(start..<start + 4, with: $0) }
    }
  }

  /// Appends the end, after which no row follows.
  mutating func finish() { bytes.append(bigEndian: Int16(-1)) }

  /// The statement.
  func statement(_ dialect: PostgresDialect) -> String {
    let columns = model.table.columns.map { dialect.identifier($0.name) }
    return "COPY \(dialect.table(model.table.name)) (\(columns.joined(separator: ", "))) "
      + "FROM STDIN (FORMAT binary)"
  }
}

extension PostgresModel {
  /// Whether the binary format of all its fields is that of parameters; decimals are sent as text.
  var canCopy: Bool { !schema.fields.contains { $0.kind == .decimal } && schema.fields.count < 1_600 }
}
