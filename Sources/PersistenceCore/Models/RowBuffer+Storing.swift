public import PersistenceDriver

extension RowBuffer {
  /// Writes a property of a kind that stores know, in the spelling that fits every property.
  ///
  /// What `@Persistent` writes: a macro cannot see whether a type is a kind that stores know, which `encode`
  /// writes without throwing, or is encoded as a document, which may throw.
  ///
  /// - Parameters:
  ///   - value: The property's value.
  ///   - position: The field's position in the schema.
  /// - Throws: Nothing.
  @inlinable
  public func store<Value: PersistentValueConvertible>(_ value: Value, at position: Int) throws {
    value.write(to: self, at: position)
  }

  /// Writes a property of any other `Codable` type, or an optional of one, as a JSON document or nil.
  ///
  /// - Parameters:
  ///   - value: The property's value.
  ///   - position: The field's position in the schema.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/encodingFailed``.
  @_disfavoredOverload
  public func store<Value: Codable>(_ value: Value, at position: Int) throws {
    try encode(value, at: position)
  }
}
