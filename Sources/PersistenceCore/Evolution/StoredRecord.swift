import PersistenceDriver
import PersistencePrimitives

/// The stored values of one record, from which new values are computed.
///
/// ```swift
/// .compute(\Film.length, from: "duration") { old in minutes(try old("duration", as: String.self)) }
/// ```
public struct StoredRecord: Sendable {
  let names: [StoredName]
  let values: [PersistentValue]

  /// The value of a stored field that the rule names as a source.
  ///
  /// - Parameters:
  ///   - name: The stored name.
  ///   - type: The type of the value.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField`` if the rule does not name the
  ///   source, and ``PersistenceError/Code/damaged`` if the value does not have the type.
  public func callAsFunction<Value: PersistentValueConvertible>(
    _ name: String, as type: Value.Type = Value.self
  )
    throws -> Value
  {
    guard let position = names.firstIndex(of: StoredName(name)) else {
      throw PersistenceError(
        .unknownField, "the rule does not name “\(name)” as a source; add it after from:", field: name)
    }
    let value = values[position]
    guard value.isNull ? Value.isPersistentOptional : value.tag == Value.persistentKind.tag else {
      throw PersistenceError.damaged("the stored value of “\(name)” is not a \(Value.self)")
    }
    return try Value.converted(from: value)
  }
}
