package import PersistenceDriver
import PersistencePrimitives

extension ModelSchema {
  /// The schema as JSON, which `ModelSchema.init(json:)` reads.
  package var json: JSONValue {
    let fields = fields.map { JSONValue.object($0.wireMembers) }
    let indexes = indexes.map { index -> JSONValue in
      ["fields": .array(index.fields.map { .string($0) }), "isUnique": .bool(index.isUnique)]
    }
    return [
      "name": .string(name), "fields": .array(fields), "key": .array(key.map { .string($0) }),
      "indexes": .array(indexes),
    ]
  }

  /// Reads a schema that a client sent.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidSchema`` if the schema is
  ///   invalid, and ``PersistenceError/Code/invalidRequest`` if the JSON is not a schema.
  package init(received json: JSONValue) throws {
    do {
      try self.init(json: json)
    } catch let error as PersistenceError where error.code == .damaged {
      throw PersistenceError.invalidRequest("the schema is malformed")
    }
  }
}
