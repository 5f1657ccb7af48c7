import PersistenceDriver

extension PersistentPredicate where Model: PersistentFields {
  /// The array or set contains an element, such as `.contains(\.tags, "new")` (contract V8).
  ///
  /// The JSON of the elements is compared, of numbers by value. Every engine reads the document of each record for it;
  /// no index helps.
  ///
  /// - Parameters:
  ///   - property: A property that is stored as a document, or a part of one.
  ///   - element: The element.
  /// - Returns: The condition.
  public static func contains<Elements: Sequence & Codable>(
    _ property: KeyPath<Model, Elements>, _ element: Elements.Element
  ) -> PersistentPredicate where Elements.Element: Codable { containing(property, element) }

  /// The optional array or set is not nil and contains an element.
  ///
  /// - Parameters:
  ///   - property: A property that is stored as a document, or a part of one.
  ///   - element: The element.
  /// - Returns: The condition.
  public static func contains<Elements: Sequence & Codable>(
    _ property: KeyPath<Model, Elements?>, _ element: Elements.Element
  ) -> PersistentPredicate where Elements.Element: Codable { containing(property, element) }

  private static func containing(_ property: AnyKeyPath, _ element: some Encodable) -> PersistentPredicate {
    placed(property) { place in
      let element = try DocumentCoding.operand(element)
      return switch place {
      case .field(let field): .document(field: field, path: [], .contains(element))
      case .part(let field, let path): .document(field: field, path: path, .contains(element))
      }
    }
  }
}
