import PersistenceDriver

extension RecordDifference {
  /// The fields in which two records differ, of those that both sides have.
  static func fields(
    _ left: borrowing Row, _ leftSchema: ModelSchema, _ right: borrowing Row, _ rightSchema: ModelSchema
  ) throws -> [Field] {
    var fields: [Field] = []
    for (position, field) in leftSchema.fields.enumerated() {
      guard let other = rightSchema.position(of: field.name) else { continue }
      let (first, second) = (left[position], right[other])
      guard first.tag != second.tag || RowCell.compare(first, second) != 0 else { continue }
      let shown = try CellDifference.texts(first, second)
      fields.append(Field(name: field.name, left: shown.left, right: shown.right))
    }
    return fields
  }
}
