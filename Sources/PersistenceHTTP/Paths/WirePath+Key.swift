package import PersistenceDriver
import PersistenceDriverSupport

extension WirePath {
  /// The path of a record.
  package static func record(_ key: RecordKey, in schema: ModelSchema) -> WirePath {
    .record(
      schema.name,
      zip(key.values, schema.keyPositions).map { ValueWriter.text($0, schema.fields[$1].kind) })
  }
}

extension RecordKey {
  /// Reads a key from the segments of a path.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if they are not a key
  ///   of the model.
  package init(path texts: [String], in schema: ModelSchema) throws {
    guard texts.count == schema.key.count else {
      throw PersistenceError.invalidRequest(
        "a key of \(schema.name) has \(schema.key.count) parts (\(schema.key.joined(separator: ", "))), the path has "
          + "\(texts.count)")
    }
    self.init(
      try zip(texts, schema.keyPositions).map { text, position in
        let field = schema.fields[position]
        if let value = ValueReader.strict.value(ofText: text, field.kind) { return value }
        throw PersistenceError(
          .invalidRequest, "the key field “\(field.name)” of \(schema.name) is \(field.kind.rawValue)",
          model: schema.name, field: field.name)
      })
  }
}
