package import PersistenceDriver
package import PersistencePrimitives

/// Why an object is not a record of a model.
package enum RecordMismatch: Error {
  /// The model has no field of this name.
  case unknownField(String)
  /// The field cannot hold the value.
  case mismatch(FieldSchema, JSONValue)
  /// The object lacks a field that is not optional.
  case missing(FieldSchema)
}

extension ValueReader {
  /// The value of JSON in a field.
  package func value(_ json: JSONValue, for field: FieldSchema) throws(RecordMismatch) -> PersistentValue {
    if case .null = json, field.isOptional { return .null }
    if case .null = json { throw .mismatch(field, json) }
    guard let value = value(json, field.kind) else { throw .mismatch(field, json) }
    return value
  }

  /// Fills a row from the members of an object; fields without a member are nil.
  package func fill(_ row: RowBuffer, from members: [JSONMember], in schema: ModelSchema)
    throws(RecordMismatch)
  {
    row.reset()
    var isGiven = [Bool](repeating: false, count: schema.fields.count)
    for member in members {
      guard let position = schema.position(of: member.name) else { throw .unknownField(member.name) }
      isGiven[position] = true
      row.set(try value(member.value, for: schema.fields[position]), at: position)
    }
    for (position, field) in schema.fields.enumerated() where !isGiven[position] && !field.isOptional {
      throw .missing(field)
    }
  }
}
