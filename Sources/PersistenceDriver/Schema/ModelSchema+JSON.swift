import PersistencePrimitives

extension ModelSchema {
  /// Reads a schema from the JSON that it encodes itself as, checking it as ``init(name:fields:key:indexes:)`` does.
  ///
  /// Stores read their catalogs by it when they are opened: the first use of Foundation's decoder in a process costs
  /// more than the rest of the opening.
  ///
  /// - Parameter json: The object.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` where it is none of a schema, and
  ///   ``PersistenceError/Code/invalidSchema`` where no store could keep what it says.
  package init(json: JSONValue) throws {
    try self.init(
      name: json.required("name").text(),
      fields: json.required("fields").elements().map { field in
        let kind = try field.required("kind").text()
        guard let kind = FieldKind(rawValue: kind) else {
          throw PersistenceError.damaged("a schema names the kind “\(kind)”, which there is not")
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

/// What a value must be where a file of ours has it.
extension JSONValue {
  /// The member of a name.
  package func required(_ name: String) throws -> JSONValue {
    guard let member = member(name) else { throw PersistenceError.damaged("“\(name)” is missing") }
    return member
  }

  /// The text of a string.
  package func text() throws -> String {
    guard case .string(let text) = self else { throw unexpected("a string") }
    return text
  }

  /// The members of an array.
  package func elements() throws -> [JSONValue] {
    guard case .array(let elements) = self else { throw unexpected("an array") }
    return elements
  }

  /// A truth value.
  package func truth() throws -> Bool {
    guard case .bool(let truth) = self else { throw unexpected("a truth value") }
    return truth
  }

  /// A whole number.
  package func integer() throws -> Int {
    guard case .number(let text) = self, let number = Int(text) else { throw unexpected("a whole number") }
    return number
  }

  private func unexpected(_ wanted: String) -> PersistenceError {
    PersistenceError.damaged("\(kind) stands where \(wanted) was expected")
  }
}
