import PersistenceConformance
import PersistenceCore

extension PlantedDefect {
  /// V8: wrong conditions on parts of documents.
  static let documentParts: [PlantedDefect] = [
    rewriting("a path of a document leads to the member of its last name", .v8) { node in
      guard case .document(let field, let path, let condition) = node, let last = path.last else {
        return node
      }
      return .document(field: field, path: [last], condition)
    },
    rewriting("a number in a document is compared as text", .v8) { node in
      guard case .document(let field, let path, .comparison(let comparison, .document(let text))) = node,
        Double(text) != nil
      else { return node }
      return .document(field: field, path: path, .comparison(comparison, .document("\"\(text)\"")))
    },
    rewriting("an array is searched for an element as if it were text", .v8) { node in
      guard case .document(let field, let path, .contains(.document(let element))) = node else { return node }
      return .document(field: field, path: path, .text(.contains, element, isCaseInsensitive: false))
    },
    deciding("a missing part of a document is not nil", .v8) { node, _ in
      guard case .document(_, _, .comparison(.equal, .null)) = node else { return .right }
      return .truth(false)
    },
  ]
}
