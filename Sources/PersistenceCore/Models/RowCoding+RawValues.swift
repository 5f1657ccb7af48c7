public import PersistenceDriver

// A raw-representable `Codable` type is stored as its raw value, whether or not it also conforms to
// `PersistentValueConvertible`. The compiler chooses these overloads before those of documents, because they have more
// constraints.

extension Row {
  /// Decodes a property of a raw-representable `Codable` type from its raw value.
  ///
  /// - Parameter position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownCase`` if the type has no value with the
  ///   stored raw value, and ``PersistenceError/Code/damaged`` if the field contains another kind of value.
  @inlinable
  @_disfavoredOverload
  public func decode<Value: RawRepresentable & Codable>(at position: Int) throws -> Value
  where Value.RawValue: PersistentValueConvertible {
    guard let value = Value(rawValue: try Value.RawValue.read(from: self, at: position)) else {
      throw PersistenceError.unknownCase(of: Value.self, at: position)
    }
    return value
  }

  /// Decodes an optional property of a raw-representable `Codable` type from its raw value, or nil.
  ///
  /// - Parameter position: The field's position in the schema.
  /// - Returns: The value or nil.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownCase`` or
  ///   ``PersistenceError/Code/damaged``.
  @inlinable
  @_disfavoredOverload
  public func decode<Value: RawRepresentable & Codable>(at position: Int) throws -> Value?
  where Value.RawValue: PersistentValueConvertible {
    if try isNull(at: position) { return nil }
    let value: Value = try decode(at: position)
    return value
  }

  /// Decodes a property of a raw-representable `Codable` type, which a key path determines, from its raw value.
  ///
  /// - Parameters:
  ///   - property: The property, for its type only.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownCase`` or
  ///   ``PersistenceError/Code/damaged``.
  @inlinable
  @_disfavoredOverload
  public func decode<Model, Value: RawRepresentable & Codable>(
    _ property: KeyPath<Model, Value>, at position: Int
  ) throws -> Value where Value.RawValue: PersistentValueConvertible { try decode(at: position) }

  /// Decodes an optional property of a raw-representable `Codable` type from its raw value, or nil.
  ///
  /// - Parameters:
  ///   - property: The property, for its type only.
  ///   - position: The field's position in the schema.
  /// - Returns: The value or nil.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownCase`` or
  ///   ``PersistenceError/Code/damaged``.
  @inlinable
  @_disfavoredOverload
  public func decode<Model, Value: RawRepresentable & Codable>(
    _ property: KeyPath<Model, Value?>, at position: Int
  ) throws -> Value? where Value.RawValue: PersistentValueConvertible { try decode(at: position) }
}

extension RowBuffer {
  /// Encodes a property of a raw-representable `Codable` type as its raw value.
  ///
  /// - Parameters:
  ///   - value: The property's value.
  ///   - position: The field's position in the schema.
  @inlinable
  @_disfavoredOverload
  public func encode<Value: RawRepresentable & Codable>(_ value: Value, at position: Int)
  where Value.RawValue: PersistentValueConvertible { value.rawValue.write(to: self, at: position) }

  /// Encodes an optional property of a raw-representable `Codable` type as its raw value, or nil.
  ///
  /// - Parameters:
  ///   - value: The property's value.
  ///   - position: The field's position in the schema.
  @inlinable
  @_disfavoredOverload
  public func encode<Value: RawRepresentable & Codable>(_ value: Value?, at position: Int)
  where Value.RawValue: PersistentValueConvertible { (value?.rawValue).write(to: self, at: position) }

  /// Encodes a property of a raw-representable `Codable` type as its raw value, for `@Persistent`.
  ///
  /// - Parameters:
  ///   - value: The property's value.
  ///   - position: The field's position in the schema.
  /// - Throws: Nothing.
  @inlinable
  @_disfavoredOverload
  public func store<Value: RawRepresentable & Codable>(_ value: Value, at position: Int) throws
  where Value.RawValue: PersistentValueConvertible { value.rawValue.write(to: self, at: position) }

  /// Encodes an optional property of a raw-representable `Codable` type as its raw value or nil, for `@Persistent`.
  ///
  /// - Parameters:
  ///   - value: The property's value.
  ///   - position: The field's position in the schema.
  /// - Throws: Nothing.
  @inlinable
  @_disfavoredOverload
  public func store<Value: RawRepresentable & Codable>(_ value: Value?, at position: Int) throws
  where Value.RawValue: PersistentValueConvertible { (value?.rawValue).write(to: self, at: position) }
}
