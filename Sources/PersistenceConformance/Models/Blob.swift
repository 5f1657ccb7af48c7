import Foundation
import PersistenceCore

/// A record with a large blob.
struct Blob: PersistentRecord {
  var id: Int
  var bytes: Data

  init(_ id: Int, _ bytes: Data) {
    self.id = id
    self.bytes = bytes
  }

  static let schema = RecordSchema<Blob>(
    "Blob", fields: [.field("id", \.id), .field("bytes", \.bytes)], key: [\.id])

  var primaryKey: Int { id }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    bytes = try row.decode(at: 1)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(bytes, at: 1)
  }
}
