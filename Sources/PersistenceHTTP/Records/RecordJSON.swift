package import PersistenceDriver
package import PersistenceDriverSupport
package import PersistencePrimitives

/// Records as JSON: objects of their fields' names and values.
package enum RecordJSON {
  /// A row as one line of canonical JSON.
  package static func line(_ row: borrowing Row, _ schema: ModelSchema) throws -> String {
    var bytes: [UInt8] = []
    try RecordWriter(schema.fields).append(row, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Some fields of a whole row as one line of canonical JSON.
  package static func line(_ row: borrowing Row, _ schema: ModelSchema, selecting positions: [Int]) throws
    -> String
  {
    let selected = RowBuffer(count: positions.count)
    for (cell, position) in positions.enumerated() { selected.setCell(row[position], at: cell) }
    var bytes: [UInt8] = []
    try selected.withRow { try RecordWriter(positions.map { schema.fields[$0] }).append($0, to: &bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Reads a record into a row.
  ///
  /// The reader accepts the canonical spellings, unless another system wrote the record.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if the JSON is not an
  ///   object, lacks a field that is not optional, or has a value that its field cannot hold or a document that is
  ///   nested too deeply, and
  ///   ``PersistenceError/Code/unknownField`` if it has another member.
  package static func read(
    _ json: JSONValue, _ schema: ModelSchema, into row: RowBuffer, by reader: ValueReader = .strict
  ) throws {
    guard case .object(let members) = json else {
      throw PersistenceError(.invalidRequest, "a record is an object, not \(json.kind)", model: schema.name)
    }
    for field in schema.fields where field.kind == .document {
      guard let value = json.member(field.name), !JSONDocument.unwrapped(value).isWithinDepthLimit else {
        continue
      }
      throw PersistenceError(
        .invalidRequest, "“\(field.name)” is nested deeper than \(JSONParser.depthLimit) levels",
        model: schema.name, field: field.name)
    }
    do {
      try reader.fill(row, from: members, in: schema)
    } catch {
      throw PersistenceError(error, in: schema)
    }
  }

  /// Reads the key of an object, which may have other fields too.
  package static func key(_ json: JSONValue, _ schema: ModelSchema) throws -> RecordKey {
    do {
      return RecordKey(
        try schema.keyPositions.map { position throws(RecordMismatch) in
          let field = schema.fields[position]
          guard let value = json.member(field.name) else { throw .missing(field) }
          return try ValueReader.strict.value(value, for: field)
        })
    } catch {
      throw PersistenceError(error, in: schema)
    }
  }

  /// A key as an object of its fields.
  package static func json(_ key: RecordKey, _ schema: ModelSchema) throws -> JSONValue {
    .object(
      try zip(key.values, schema.keyPositions).map { value, position in
        JSONMember(schema.fields[position].name, try ValueWriter.json(value, schema.fields[position]))
      })
  }
}

extension PersistenceError {
  /// The error for a request whose object is not a record.
  init(_ mismatch: RecordMismatch, in schema: ModelSchema? = nil) {
    switch mismatch {
    case .unknownField(let name):
      self = schema.map { .unknownField(name, in: $0) } ?? .invalidRequest("there is no field “\(name)”")
    case .mismatch(let field, let json):
      self.init(
        .invalidRequest, "“\(field.name)” is \(field.kind.rawValue) and cannot be \(json.kind) like this one",
        model: schema?.name, field: field.name)
    case .missing(let field):
      self.init(
        .invalidRequest, "“\(field.name)” is missing, which is not optional", model: schema?.name,
        field: field.name)
    }
  }
}
