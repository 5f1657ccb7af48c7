import DataAccess
import PersistenceCore

/// A record with a text key and a unique nickname.
struct Named: PersistentRecord, Equatable {
  var name: String
  var nickname: String?

  static let schema = RecordSchema<Named>(
    "Named thing", fields: [.field("name", \.name), .field("nick name", \.nickname)], key: [\.name],
    indexes: [RecordIndex(\.nickname, isUnique: true)])

  var primaryKey: String { name }

  init(_ name: String, nickname: String? = nil) {
    self.name = name
    self.nickname = nickname
  }

  init(from row: borrowing Row) throws {
    (name, nickname) = try row.decodeFields()
  }

  func encode(into row: RowBuffer) throws {
    row.encodeFields(name, nickname)
  }

  // Compare by scalars, as stores do. `String` treats both forms of é as equal.
  static func == (left: Named, right: Named) -> Bool {
    left.name.unicodeScalars.elementsEqual(right.name.unicodeScalars)
      && (left.nickname == nil) == (right.nickname == nil)
      && (left.nickname ?? "").unicodeScalars.elementsEqual((right.nickname ?? "").unicodeScalars)
  }
}

/// A record with a key of two fields.
struct Seat: PersistentRecord, Equatable {
  struct Place: PersistentKey {
    var row: String
    var number: Int
    var keyValues: [PersistentValue] { row.keyValues + number.keyValues }
  }

  var row: String
  var number: Int
  var guest: String

  static let schema = RecordSchema<Seat>(
    "Seat", fields: [.field("row", \.row), .field("number", \.number), .field("guest", \.guest)],
    key: [\.row, \.number])

  var primaryKey: Place { Place(row: row, number: number) }

  init(_ row: String, _ number: Int, guest: String) {
    self.row = row
    self.number = number
    self.guest = guest
  }

  init(from source: borrowing Row) throws {
    (row, number, guest) = try source.decodeFields()
  }

  func encode(into target: RowBuffer) throws {
    target.encodeFields(row, number, guest)
  }
}
