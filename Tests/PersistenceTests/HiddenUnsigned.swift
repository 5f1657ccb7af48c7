import Persistence

/// A model with a type that the macro rejects, behind a type alias.
///
/// The compiler warns about it.
struct HiddenUnsigned: PersistentRecord {
  typealias Wide = UInt64

  var id: Int
  var wide: Wide

  @available(*, deprecated)
  static let schema = RecordSchema<HiddenUnsigned>(
    "HiddenUnsigned", fields: [.field("id", \.id), .field("wide", \.wide)], key: [\.id])
  var primaryKey: Int { id }
}

extension HiddenUnsigned {
  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    wide = try row.decode(at: 1)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    try row.encode(wide, at: 1)
  }
}
