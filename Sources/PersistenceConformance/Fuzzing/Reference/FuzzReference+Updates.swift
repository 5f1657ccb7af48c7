import PersistenceCore

/// Bulk updates, as the contract states them.
extension FuzzReference {
  mutating func updateRows(_ query: FuzzQuery, _ schemas: [ModelSchema], set assignments: [FieldAssignment])
    throws -> Int
  {
    _ = try check(query, schemas)
    let schema = schemas[query.model]
    guard !assignments.isEmpty else { throw Refusal(.invalidRequest) }
    var places: [Int] = []
    for assignment in assignments {
      guard let position = Self.position(of: assignment.field, in: schema.fields) else {
        throw Refusal(.unknownField)
      }
      let isKey = schema.key.contains { FuzzValue.isSameName($0, assignment.field) }
      guard !isKey, FuzzValue.isValid(assignment.value, schema.fields[position]) else {
        throw Refusal(.invalidRequest)
      }
      places.append(position)
    }
    let rows = try rows(query, schemas)
    for var row in rows {
      for (position, assignment) in zip(places, assignments) { row[position] = assignment.value }
      try write(row, in: schema, .present)
    }
    return rows.count
  }
}

extension FuzzValue {
  /// Returns whether a value is valid for a field.
  static func isValid(_ value: PersistentValue, _ field: FieldSchema) -> Bool {
    if value.isNull { return field.isOptional }
    guard value.tag == field.kind.tag else { return false }
    if case .double(let number) = value { return field.kind.canRepresent(number) }
    guard case .integer(let number) = value else { return true }
    return switch field.kind {
    case .int8: Int8(exactly: number) != nil
    case .int16: Int16(exactly: number) != nil
    case .int32: Int32(exactly: number) != nil
    case .uint8: UInt8(exactly: number) != nil
    case .uint16: UInt16(exactly: number) != nil
    case .uint32: UInt32(exactly: number) != nil
    default: true
    }
  }
}
