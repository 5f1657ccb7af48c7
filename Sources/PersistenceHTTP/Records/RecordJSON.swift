package import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// Whole records as JSON: objects of their fields' names and values.
package enum RecordJSON {
  /// A row as an object, its members sorted by the bytes of their names: the same text wherever it is made.
  package static func json(_ row: borrowing Row, _ schema: ModelSchema) throws -> JSONValue {
    var members: [JSONMember] = []
    members.reserveCapacity(row.count)
    for position in 0..<row.count {
      let field = schema.fields[position]
      members.append(
        JSONMember(field.name, try FieldText.json(try row.value(at: position).normalized, field)))
    }
    return .object(members)
  }

  /// A row as one line of canonical JSON.
  package static func line(_ row: borrowing Row, _ schema: ModelSchema) throws -> String {
    var bytes: [UInt8] = []
    try RecordWriter(schema).append(row, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Reads a record into a row.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` where it is no object, lacks a
  ///   field that is not optional, or has a value that its field cannot hold, and
  ///   ``PersistenceError/Code/unknownField`` where it has another member.
  package static func read(_ json: JSONValue, _ schema: ModelSchema, into row: RowBuffer) throws {
    guard case .object(let members) = json else {
      throw PersistenceError(
        .invalidRequest, "a record is an object, not \(json.kind)", model: schema.name)
    }
    row.reset()
    var isGiven = [Bool](repeating: false, count: schema.fields.count)
    for member in members {
      guard let position = schema.position(of: member.name) else {
        throw PersistenceError.unknownField(member.name, in: schema)
      }
      isGiven[position] = true
      do {
        row.set(try FieldJSON.value(member.value, for: schema.fields[position]), at: position)
      } catch let error as PersistenceError {
        throw error.at(model: schema.name)
      }
    }
    for (position, field) in schema.fields.enumerated() where !isGiven[position] && !field.isOptional {
      throw PersistenceError(
        .invalidRequest, "“\(field.name)” is missing, which is not optional", model: schema.name,
        field: field.name)
    }
  }

  /// Reads the key fields of an object, which may have others too.
  package static func key(_ json: JSONValue, _ schema: ModelSchema) throws -> RecordKey {
    RecordKey(
      try schema.keyPositions.map { position in
        let field = schema.fields[position]
        guard let value = json.member(field.name) else {
          throw PersistenceError(
            .invalidRequest, "the key field “\(field.name)” is missing", model: schema.name, field: field.name
          )
        }
        return try FieldJSON.value(value, for: field)
      })
  }

  /// A key as an object of its fields.
  package static func json(_ key: RecordKey, _ schema: ModelSchema) throws -> JSONValue {
    .object(
      try zip(key.values, schema.keyPositions).map { value, position in
        JSONMember(schema.fields[position].name, try FieldText.json(value, schema.fields[position]))
      })
  }
}
