public import PersistenceDriver

extension Row {
  /// Reads a property of a kind that stores know.
  ///
  /// - Parameter position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the field holds no such
  ///   value.
  @inlinable
  public func decode<Value: PersistentValueConvertible>(at position: Int) throws -> Value {
    try Value.read(from: self, at: position)
  }

  /// Reads a property of any other `Codable` type, or an optional of one, from its JSON document.
  ///
  /// - Parameter position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the field holds no
  ///   document, or one of another shape.
  @_disfavoredOverload
  public func decode<Value: Codable>(at position: Int) throws -> Value {
    try DocumentCoding.decode(Value.self, from: self[position], at: position)
  }
}

extension Row {
  /// Reads a property of a kind that stores know, whose type a key path says.
  ///
  /// - Parameters:
  ///   - property: The property; nothing is read through it.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the field holds no such
  ///   value.
  @inlinable
  @inline(__always)
  public func decode<Model, Value: PersistentValueConvertible>(
    _ property: KeyPath<Model, Value>, at position: Int
  ) throws -> Value {
    try Value.read(from: self, at: position)
  }

  /// Reads a property of any other `Codable` type, or an optional of one, whose type a key path says, from its JSON
  /// document.
  ///
  /// - Parameters:
  ///   - property: The property; nothing is read through it.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the field holds no
  ///   document, or one of another shape.
  @_disfavoredOverload
  public func decode<Model, Value: Codable>(_ property: KeyPath<Model, Value>, at position: Int) throws
    -> Value
  {
    try decode(at: position)
  }
}

extension RowBuffer {
  /// Writes a property of a kind that stores know.
  ///
  /// - Parameters:
  ///   - value: The property's value.
  ///   - position: The field's position in the schema.
  @inlinable
  public func encode<Value: PersistentValueConvertible>(_ value: Value, at position: Int) {
    value.write(to: self, at: position)
  }

  /// Writes a property of any other `Codable` type, or an optional of one, as a JSON document or nil.
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
