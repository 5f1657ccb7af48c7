import PersistenceDriver
import PersistencePrimitives

extension StoredRecord {
  /// The decoded document of a stored field that the rule names as a source.
  ///
  /// ```swift
  /// .compute(\Film.rating, from: "grade") { old in try old.document("grade", as: Rating.self) }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The stored name.
  ///   - type: The type of the value, or an optional of it.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField`` if the rule does not name the
  ///   source, and ``PersistenceError/Code/damaged`` if the value is not a document of the type.
  public func document<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) throws -> Value {
    let position = try position(of: name)
    return try DocumentCoding.decode(type, from: row[position], at: position)
  }
}
