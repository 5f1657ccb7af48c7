public import PersistenceDriver

/// One stored property of a record type: its stored name, kind and key path.
public struct RecordField<Model>: Sendable {
  /// What stores know of the field.
  public let schema: FieldSchema

  let keyPath: SendablePartialKeyPath<Model>

  /// Why no store could keep the field; thrown when the schema is first used.
  var refusal: String?

  /// A property of a kind that stores know: a number, text, date and so on, or an optional of one.
  ///
  /// - Parameters:
  ///   - name: The stored name.
  ///   - keyPath: The property.
  /// - Returns: The field.
  public static func field<Value: PersistentValueConvertible>(
    _ name: String, _ keyPath: SendableKeyPath<Model, Value>
  ) -> RecordField {
    RecordField(
      schema: FieldSchema(name, Value.persistentKind, isOptional: Value.isPersistentOptional),
      keyPath: keyPath)
  }

  /// A property of any other `Codable` type, stored as one JSON document.
  ///
  /// - Parameters:
  ///   - name: The stored name.
  ///   - keyPath: The property.
  /// - Returns: The field.
  @_disfavoredOverload
  public static func field<Value: Codable>(
    _ name: String, _ keyPath: SendableKeyPath<Model, Value>
  ) -> RecordField {
    RecordField(schema: FieldSchema(name, .document), keyPath: keyPath)
  }

  /// A property of an optional of any other `Codable` type, stored as one JSON document or nil.
  ///
  /// - Parameters:
  ///   - name: The stored name.
  ///   - keyPath: The property.
  /// - Returns: The field.
  @_disfavoredOverload
  public static func field<Value: Codable>(
    _ name: String, _ keyPath: SendableKeyPath<Model, Value?>
  ) -> RecordField {
    RecordField(schema: FieldSchema(name, .document, isOptional: true), keyPath: keyPath)
  }
}
