public import PersistenceDriver

// An enum with names as raw values is found among its cases by comparing bytes, before `init(rawValue:)` would compare
// strings. The compiler chooses these overloads before those of other raw values, because they have more constraints.

extension Row {
  /// Decodes a property of an enum from the name of its case.
  ///
  /// - Parameter position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownCase`` if the type has no value with the
  ///   stored raw value, and ``PersistenceError/Code/damaged`` if the field contains another kind of value.
  /// - Complexity: Linear in the number of cases.
  @inlinable
  @_disfavoredOverload
  public func decode<Value: RawRepresentable & Codable & CaseIterable>(at position: Int) throws -> Value
  where Value.RawValue == String { try namedCase(at: position) }

  /// Decodes an optional property of an enum from the name of its case, or nil.
  ///
  /// - Parameter position: The field's position in the schema.
  /// - Returns: The value or nil.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownCase`` or
  ///   ``PersistenceError/Code/damaged``.
  /// - Complexity: Linear in the number of cases.
  @inlinable
  @_disfavoredOverload
  public func decode<Value: RawRepresentable & Codable & CaseIterable>(at position: Int) throws -> Value?
  where Value.RawValue == String { try isNull(at: position) ? nil : namedCase(at: position) }

  /// Decodes a property of an enum, which a key path determines, from the name of its case.
  ///
  /// - Parameters:
  ///   - property: The property, for its type only.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownCase`` or
  ///   ``PersistenceError/Code/damaged``.
  /// - Complexity: Linear in the number of cases.
  @inlinable
  @_disfavoredOverload
  public func decode<Model, Value: RawRepresentable & Codable & CaseIterable>(
    _ property: KeyPath<Model, Value>, at position: Int
  ) throws -> Value where Value.RawValue == String { try namedCase(at: position) }

  /// Decodes an optional property of an enum from the name of its case, or nil.
  ///
  /// - Parameters:
  ///   - property: The property, for its type only.
  ///   - position: The field's position in the schema.
  /// - Returns: The value or nil.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownCase`` or
  ///   ``PersistenceError/Code/damaged``.
  /// - Complexity: Linear in the number of cases.
  @inlinable
  @_disfavoredOverload
  public func decode<Model, Value: RawRepresentable & Codable & CaseIterable>(
    _ property: KeyPath<Model, Value?>, at position: Int
  ) throws -> Value? where Value.RawValue == String {
    try isNull(at: position) ? nil : namedCase(at: position)
  }
}
