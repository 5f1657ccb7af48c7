public import PersistenceDriver
import PersistencePrimitives

/// The stored values of one record, from which new values are computed.
///
/// ```swift
/// .compute(\Film.length, from: "duration") { old in minutes(try old("duration", as: String.self)) }
/// ```
///
/// It is valid while the closure runs, so it cannot be copied or kept.
public struct StoredRecord: ~Copyable {
  let names: [StoredName]
  /// The values, in the order of the names.
  @usableFromInline let row: Row

  /// The value of a stored field that the rule names as a source.
  ///
  /// - Parameters:
  ///   - name: The stored name.
  ///   - type: The type of the value.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField`` if the rule does not name the
  ///   source, and ``PersistenceError/Code/invalidRequest`` if the value does not have the type.
  @inlinable
  public func callAsFunction<Value: PersistentValueConvertible>(
    _ name: String, as type: Value.Type = Value.self
  )
    throws -> Value
  {
    let position = try position(of: name)
    let cell = row[position]
    guard cell.isNull ? Value.isPersistentOptional : cell.tag == Value.persistentKind.tag else {
      throw Self.mismatch(name, cell, Value.self)
    }
    return try Value.read(from: row, at: position)
  }

  @usableFromInline
  static func mismatch(_ name: String, _ cell: RowCell, _ type: Any.Type) -> PersistenceError {
    PersistenceError.invalidRequest(
      "the stored value of “\(name)” is \(cell.isNull ? "nil" : "\(cell.tag)"), not \(type); correct the type in the rule"
    )
  }

  /// The place of a source among the row's fields.
  @usableFromInline
  func position(of name: String) throws -> Int {
    let name = StoredName(name)
    guard let position = names.firstIndex(of: name) else {
      throw PersistenceError(
        .unknownField, "the rule does not name “\(name)” as a source; add it after from:", field: name.text)
    }
    return position
  }
}
