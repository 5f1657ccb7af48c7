import PersistenceDriver

/// The columns of a statement's rows: the fields that they hold.
struct PostgresColumns: Sendable {
  /// How to read one column.
  struct Reader: Sendable {
    let tag: RowCell.Tag
    let isOptional: Bool
    /// Whether another program's table holds the column: its text has no escapes, and its types may be narrower.
    var isForeign = false
  }

  /// The position of each column's field.
  let positions: [Int]
  /// How many columns the caller's rows have; further ones are for this package's own use.
  let selectedCount: Int
  let readers: [Reader]
  /// The columns of another program's table, for errors.
  let foreign: [PostgresForeignColumn]?

  /// Some fields of a model: those of the caller's rows, which may contain duplicates, and others.
  init(
    _ selected: [Int], and others: [Int] = [], of schema: ModelSchema,
    _ foreign: [PostgresForeignColumn]? = nil
  ) {
    let positions = selected + others.filter { !selected.contains($0) }
    self.positions = positions
    selectedCount = selected.count
    readers = positions.map {
      Reader(
        tag: schema.fields[$0].kind.tag, isOptional: schema.fields[$0].isOptional, isForeign: foreign != nil)
    }
    self.foreign = foreign.map { columns in positions.map { columns[$0] } }
  }

  /// All fields of a model.
  init(all schema: ModelSchema) { self.init(Array(schema.fields.indices), of: schema) }
}
