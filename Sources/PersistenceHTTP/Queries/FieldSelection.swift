package import PersistenceDriver
import PersistencePrimitives
import PersistenceQueryLanguage

/// The fields that an answer has: the parameter or member `select`.
package enum FieldSelection {
  /// The positions of the names in a comma-separated list.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField`` if the model lacks one, and
  ///   ``PersistenceError/Code/invalidRequest`` if the list is empty, malformed, or repeats a field.
  package static func positions(_ text: String, in schema: ModelSchema) throws -> [Int] {
    do {
      return try positions(
        try FieldNames.list(text).map { part in
          guard !part.isDescending else {
            throw PersistenceError.invalidRequest(
              "“select” has no order; omit the minus before “\(part.name)”, or enclose the name in double quotes"
            )
          }
          return part.name
        }, in: schema)
    } catch let error as FieldListError {
      throw PersistenceError.invalidRequest("“select” is malformed: \(error.message)")
    }
  }

  /// The positions of the names in a body: an array, or text as in a URL.
  static func positions(_ json: JSONValue, in schema: ModelSchema) throws -> [Int] {
    switch json {
    case .string(let text): return try positions(text, in: schema)
    case .array(let elements):
      return try positions(
        try elements.map { element in
          guard case .string(let name) = element else {
            throw PersistenceError.invalidRequest("“select” has names of fields, not \(element.kind)")
          }
          return name
        }, in: schema)
    default: throw PersistenceError.invalidRequest("“select” is text or an array, not \(json.kind)")
    }
  }

  private static func positions(_ names: [String], in schema: ModelSchema) throws -> [Int] {
    guard !names.isEmpty else {
      throw PersistenceError.invalidRequest("“select” is empty; name a field, or omit it for all fields")
    }
    var positions: [Int] = []
    for name in names {
      let position = try schema.requiredPosition(of: name)
      guard !positions.contains(position) else {
        throw PersistenceError(
          .invalidRequest, "“select” names “\(name)” twice", model: schema.name,
          field: schema.fields[position].name)
      }
      positions.append(position)
    }
    return positions
  }
}
