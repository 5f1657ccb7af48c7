package import Foundation
package import PersistenceCore

/// A record with a large blob.
package struct Blob: PersistentRecord {
  package var id: Int
  package var bytes: Data

  /// Creates a record.
  package init(_ id: Int, _ bytes: Data) {
    self.id = id
    self.bytes = bytes
  }

  package static let schema = RecordSchema<Blob>(
    "Blob", fields: [.field("id", \.id), .field("bytes", \.bytes)], key: [\.id])

  package var primaryKey: Int { id }

  package init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    bytes = try row.decode(at: 1)
  }

  package func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(bytes, at: 1)
  }
}
