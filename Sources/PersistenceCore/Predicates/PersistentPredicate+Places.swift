import PersistenceDriver

// Conditions on the place to which a key path leads: a field, or a part of a document (contract V8).

extension PersistentPredicate where Model: PersistentFields {
  /// A property or a part of a document, stored in its own form, compared with a value of a `Codable` type.
  static func comparing(
    document property: AnyKeyPath, _ comparison: ComparisonOperator, _ value: some Encodable
  ) -> PersistentPredicate {
    placed(property) { place in
      switch place {
      case .field(let field):
        return .comparison(field: field, comparison, try Model.storedForm(of: value, in: field))
      case .part: return try comparison.node(place, value)
      }
    }
  }

  /// A search in a text property, or in a part of a document that is text.
  static func searching(
    _ property: AnyKeyPath, _ search: TextOperator, _ needle: String, _ isCaseInsensitive: Bool
  ) -> PersistentPredicate {
    placed(property) { place in
      switch place {
      case .field(let field): .text(field: field, search, needle, isCaseInsensitive: isCaseInsensitive)
      case .part(let field, let path):
        .document(field: field, path: path, .text(search, needle, isCaseInsensitive: isCaseInsensitive))
      }
    }
  }

  /// A condition on the place of a key path; if there is none, using the condition throws why.
  static func placed(_ property: AnyKeyPath, _ node: (StoredPlace) throws -> PredicateNode)
    -> PersistentPredicate
  {
    do {
      return PersistentPredicate(node: try node(try Model.place(of: property)))
    } catch {
      let failure = error as? PersistenceError ?? PersistenceError(.encodingFailed, "\(error)")
      return PersistentPredicate(node: .constant(false), failure: failure)
    }
  }
}

extension ComparisonOperator {
  /// The comparison of a place with a value.
  func node(_ place: StoredPlace, _ value: Any) throws -> PredicateNode {
    switch place {
    case .field(let field):
      guard let value = value as? any PersistentValueConvertible else {
        throw PersistenceError(.unsupported, "a \(type(of: value)) cannot be compared with a field")
      }
      return .comparison(field: field, self, value.persistentValue)
    case .part(let field, let path):
      return .document(field: field, path: path, .comparison(self, try DocumentCoding.operand(value)))
    }
  }
}

extension DocumentCoding {
  /// A value as the operand of a condition on a part of a document: its JSON, or nil.
  static func operand(_ value: Any) throws -> PersistentValue {
    if let value = value as? any Encodable {
      return try encode(value).map { PersistentValue.document($0) } ?? .null
    }
    if let optional = value as? any OptionalValue, optional.isNil { return .null }
    guard let raw = (value as? any RawRepresentable)?.rawValue as? any Encodable else {
      throw PersistenceError(
        .unsupported,
        "a \(type(of: value)) cannot be compared with a part of a document, because it is not Encodable")
    }
    return try encode(raw).map { PersistentValue.document($0) } ?? .null
  }
}
