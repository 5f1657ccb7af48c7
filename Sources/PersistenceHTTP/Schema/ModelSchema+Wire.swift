package import PersistenceDriver
import PersistencePrimitives

extension ModelSchema {
  /// The schema as JSON, which `ModelSchema.init(json:)` reads.
  package var json: JSONValue {
    .object([
      JSONMember("name", .string(name)),
      JSONMember(
        "fields",
        .array(
          fields.map {
            .object([
              JSONMember("name", .string($0.name)), JSONMember("kind", .string($0.kind.rawValue)),
              JSONMember("isOptional", .bool($0.isOptional)),
            ])
          })),
      JSONMember("key", .array(key.map { .string($0) })),
      JSONMember(
        "indexes",
        .array(
          indexes.map {
            .object([
              JSONMember("fields", .array($0.fields.map { .string($0) })),
              JSONMember("isUnique", .bool($0.isUnique)),
            ])
          })),
    ])
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
