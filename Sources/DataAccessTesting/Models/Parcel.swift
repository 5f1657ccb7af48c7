import DataAccess
import PersistenceCore

/// A record with ordinary fields, which most checks use.
struct Parcel: PersistentRecord, Equatable {
  var id: Int
  var name: String
  var weight: Double
  var priority: Int?
  var isSent: Bool

  init(_ id: Int, name: String = "", weight: Double = 0, priority: Int? = nil, isSent: Bool = false) {
    self.id = id
    self.name = name
    self.weight = weight
    self.priority = priority
    self.isSent = isSent
  }

  static let schema = RecordSchema<Parcel>(
    "Parcel",
    fields: [
      .field("id", \.id), .field("name", \.name), .field("weight", \.weight), .field("priority", \.priority),
      .field("isSent", \.isSent),
    ], key: [\.id], indexes: [RecordIndex(\.name)])

  var primaryKey: Int { id }

  init(from row: borrowing Row) throws {
    (id, name, weight, priority, isSent) = try row.decodeFields()
  }

  func encode(into row: RowBuffer) throws {
    row.encodeFields(id, name, weight, priority, isSent)
  }
}
