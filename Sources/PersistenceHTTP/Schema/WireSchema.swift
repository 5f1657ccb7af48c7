import PersistenceDriver
package import PersistenceDriverSupport
package import PersistencePrimitives

/// A model as a client declares it: its schema, and what the client's code says of the model's past.
///
/// A client sends it once. Its requests then have the digest as their parameter `schema`, and the server reads and
/// writes as if its store had this schema (contract S1).
///
/// ```json
/// {"name": "Film", "was": ["Movie"], "key": ["id"], "indexes": [],
///  "fields": [{"name": "id", "kind": "int64", "isOptional": false},
///             {"name": "rating", "kind": "string", "isOptional": false, "was": ["grade"], "fill": "PG"}]}
/// ```
package struct WireSchema: Sendable {
  package let declaration: ModelDeclaration
  package let json: JSONValue
  /// The SHA-256 of the canonical JSON, in Base64url.
  package let digest: String

  package init(_ declaration: ModelDeclaration) throws {
    self.declaration = declaration
    json = try Self.json(declaration)
    digest = Self.digest(of: json)
  }

  /// Reads a declaration that a client sent.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidSchema`` if no store can represent it or its
  ///   name is reserved, and ``PersistenceError/Code/invalidRequest`` if the JSON is not a declaration.
  package init(received json: JSONValue) throws {
    let schema = try ModelSchema(received: json)
    guard !ReservedModel.isReserved(schema.name) else {
      throw PersistenceError(
        .invalidSchema, "names that start with “\(ReservedModel.prefix)” are reserved; choose another name",
        model: schema.name)
    }
    guard case .array(let fields)? = json.member("fields") else {
      throw PersistenceError.invalidRequest("the schema is malformed")
    }
    let pasts = try zip(schema.fields, fields).map { field, json in
      ModelDeclaration.Field(
        formerNames: try Self.names(json), fill: try json.member("fill").map { try Self.fill($0, of: field) })
    }
    declaration = ModelDeclaration(schema, formerNames: try Self.names(json), fields: pasts)
    self.json = json
    digest = Self.digest(of: json)
  }

  private static func json(_ declaration: ModelDeclaration) throws -> JSONValue {
    func was(_ names: [String]) -> [JSONMember] {
      names.isEmpty ? [] : [JSONMember("was", .array(names.map { .string($0) }))]
    }
    guard case .object(var members) = declaration.schema.json else { return .null }
    let fields = try zip(declaration.schema.fields, declaration.fields).map { field, past -> JSONValue in
      let fill = try past.fill.map { [JSONMember("fill", try ValueWriter.json($0, field))] } ?? []
      return .object(field.wireMembers + was(past.formerNames) + fill)
    }
    members.removeAll { $0.name == "fields" }
    return .object(members + [JSONMember("fields", .array(fields))] + was(declaration.formerNames))
  }

  private static func digest(of json: JSONValue) -> String {
    Base64URL.text(SHA256.hash(data: JSONText.canonical(json).utf8).bytes)
  }

  private static func names(_ json: JSONValue) throws -> [String] {
    guard let was = json.member("was") else { return [] }
    guard case .array(let elements) = was else {
      throw PersistenceError.invalidRequest("“was” is an array of names, not \(was.kind)")
    }
    return try elements.map { element in
      guard case .string(let name) = element, !ReservedModel.isReserved(name) else {
        throw PersistenceError.invalidRequest("“was” is an array of names that are not reserved")
      }
      return name
    }
  }

  private static func fill(_ json: JSONValue, of field: FieldSchema) throws -> PersistentValue {
    do {
      return try ValueReader.strict.value(json, for: field)
    } catch {
      throw PersistenceError(error)
    }
  }
}
