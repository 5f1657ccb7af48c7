import PersistencePrimitives

extension ModelSchema {
  /// Creates a schema from its encoded JSON, and validates it like ``init(name:fields:key:indexes:)``.
  ///
  /// Stores read their catalogs with it. The first use of Foundation's decoder in a process takes longer than the rest
  /// of opening a store.
  package init(json: JSONValue) throws {
    try self.init(
      name: json.required("name").text(),
      fields: json.required("fields").elements().map { field in
        let kind = try field.required("kind").text()
        guard let kind = FieldKind(rawValue: kind) else {
          throw PersistenceError.damaged("a schema has the unknown kind “\(kind)”")
        }
        return FieldSchema(
          try field.required("name").text(), kind, isOptional: try field.required("isOptional").truth())
      },
      key: json.required("key").elements().map { try $0.text() },
      indexes: json.required("indexes").elements().map { index in
        IndexSchema(
          try index.required("fields").elements().map { try $0.text() },
          isUnique: try index.required("isUnique").truth())
      })
  }
}

/// The expected forms of values in this package's files.
extension JSONValue {
  package func required(_ name: String) throws -> JSONValue {
    guard let member = member(name) else { throw PersistenceError.damaged("“\(name)” is missing") }
    return member
  }

  package func text() throws -> String {
    guard case .string(let text) = self else { throw unexpected("a string") }
    return text
  }

  package func elements() throws -> [JSONValue] {
    guard case .array(let elements) = self else { throw unexpected("an array") }
    return elements
  }

  package func truth() throws -> Bool {
    guard case .bool(let truth) = self else { throw unexpected("a Boolean value") }
    return truth
  }

  package func integer() throws -> Int {
    guard case .number(let text) = self, let number = Int(text) else { throw unexpected("an integer") }
    return number
  }

  private func unexpected(_ wanted: String) -> PersistenceError {
    PersistenceError.damaged("found \(kind) instead of \(wanted)")
  }
}
