package import PersistenceDriver

/// Records of a page, with the values of the fields by which other records are found.
///
/// The values come from the rows, because a key path that is generic at run time costs more than decoding a record.
@usableFromInline
struct RelatedPage<Model: PersistentRecord>: Sendable {
  @usableFromInline let models: [Model]

  private let values: FieldValues

  /// Creates a page of records whose values have been read.
  @usableFromInline
  init(_ models: [Model], _ values: FieldValues) {
    self.models = models
    self.values = values
  }

  /// Creates a page of records that were not read from rows.
  init(encoding models: [Model], fields: [Int]) throws {
    let row = RowBuffer(count: try Model.schema.model.fields.count)
    var values = FieldValues(of: fields)
    for model in models {
      row.reset()
      try model.encode(into: row)
      try row.withRow { try values.add($0) }
    }
    self.init(models, values)
  }

  /// The values of a field, in the order of the records.
  @usableFromInline
  func values(at field: Int) -> [PersistentValue] { values[field] }
}

/// The records that those of a page refer to by one field, each once.
@usableFromInline
struct RelatedTargets<Target: PersistentRecord> {
  @usableFromInline let page: RelatedPage<Target>

  /// For each record of the first page, the place of the one it refers to; negative for none.
  @usableFromInline let places: [Int]

  @inlinable
  init(page: RelatedPage<Target>, places: [Int]) { (self.page, self.places) = (page, places) }
}
