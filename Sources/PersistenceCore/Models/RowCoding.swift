public import PersistenceDriver

extension Row {
  /// Decodes a property of a `PersistentValueConvertible` type.
  ///
  /// - Parameter position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the field does not contain
  ///   such a value.
  @inlinable
  public func decode<Value: PersistentValueConvertible>(at position: Int) throws -> Value {
    try Value.read(from: self, at: position)
  }

  /// Decodes a property of any other `Codable` type, or an optional of one, from its JSON document.
  ///
  /// - Parameter position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the field does not contain
  ///   a document of this type.
  @_disfavoredOverload
  public func decode<Value: Codable>(at position: Int) throws -> Value {
    try DocumentCoding.decode(Value.self, from: try field(at: position), at: position)
  }
}

extension Row {
  /// Decodes a property of a `PersistentValueConvertible` type, which a key path determines.
  ///
  /// - Parameters:
  ///   - property: The property, for its type only.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the field does not contain
  ///   such a value.
  @inlinable
  @inline(__always)
  public func decode<Model, Value: PersistentValueConvertible>(
    _ property: KeyPath<Model, Value>, at position: Int
  ) throws -> Value {
    try Value.read(from: self, at: position)
  }

  /// Decodes a property of any other `Codable` type, or an optional of one, from its JSON document.
  ///
  /// A key path determines the type.
  ///
  /// - Parameters:
  ///   - property: The property, for its type only.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the field does not contain
  ///   a document of this type.
  @_disfavoredOverload
  public func decode<Model, Value: Codable>(_ property: KeyPath<Model, Value>, at position: Int) throws
    -> Value
  {
    try decode(at: position)
  }
}

extension RowBuffer {
  /// Encodes a property of a `PersistentValueConvertible` type.
  ///
  /// - Parameters:
  ///   - value: The property's value.
  ///   - position: The field's position in the schema.
  @inlinable
  public func encode<Value: PersistentValueConvertible>(_ value: Value, at position: Int) {
    value.write(to: self, at: position)
  }

  /// Encodes a property of any other `Codable` type, or an optional of one, as a JSON document or nil.
  ///
  /// - Parameters:
  ///   - value: The property's value.
  ///   - position: The field's position in the schema.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/encodingFailed``.
  @_disfavoredOverload
  public func encode<Value: Codable>(_ value: Value, at position: Int) throws {
    guard let document = try DocumentCoding.encode(value) else { return setCell(.null, at: position) }
    setDocument(document, at: position)
  }
}

extension RowBuffer {
  /// Encodes a property of a `PersistentValueConvertible` type, with the signature that all property types
  /// share.
  ///
  /// `@Persistent` generates calls of this method. A macro cannot see whether `encode` can write a type
  /// without throwing, or the type is encoded as a document, which may throw.
  ///
  /// - Parameters:
  ///   - value: The property's value.
  ///   - position: The field's position in the schema.
  /// - Throws: Nothing.
  @inlinable
  public func store<Value: PersistentValueConvertible>(_ value: Value, at position: Int) throws {
    value.write(to: self, at: position)
  }

  /// Encodes a property of any other `Codable` type, or an optional of one, as a JSON document or nil.
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
