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

/// A secondary index of a record type, over one property or several.
public struct RecordIndex<Model>: Sendable {
  let keyPaths: [SendablePartialKeyPath<Model>]
  let isUnique: Bool

  /// Declares an index.
  ///
  /// - Parameters:
  ///   - keyPaths: The indexed properties, in order.
  ///   - isUnique: Whether two records may not have the same values; nil never collides (contract W4).
  public init(_ keyPaths: [SendablePartialKeyPath<Model>], isUnique: Bool = false) {
    self.keyPaths = keyPaths
    self.isUnique = isUnique
  }

  /// Declares an index over properties whose types have an order, which the compiler checks.
  ///
  /// - Parameters:
  ///   - properties: The indexed properties, in order.
  ///   - isUnique: Whether two records may not have the same values; nil never collides (contract W4).
  public init<each Value: PersistentValueConvertible>(
    _ properties: repeat SendableKeyPath<Model, each Value>, isUnique: Bool = false
  ) {
    var keyPaths: [SendablePartialKeyPath<Model>] = []
    repeat keyPaths.append(each properties)
    self.keyPaths = keyPaths
    self.isUnique = isUnique
  }
}

// Types that no store keeps, refused where the model is declared and in words: without these, the compiler would
// tell which overloads did not fit.

extension RecordField {
  /// Refuses a property of a type that is neither a kind that stores know nor `Codable`.
  @available(
    *, unavailable,
    message:
      "the property's type is neither PersistentValueConvertible nor Codable; make it one of them, or mark the property @Transient"
  )
  public static func field<Value>(_ name: String, _ keyPath: SendableKeyPath<Model, Value>) -> RecordField {
    refused(name, keyPath, "its type is neither PersistentValueConvertible nor Codable")
  }

  /// Refuses an unsigned integer that is known by another name, when the schema is first used at the latest.
  @available(
    *, deprecated, message: "values of UInt64 do not fit in the 64 signed bits of a store; use Int64"
  )
  public static func field(_ name: String, _ keyPath: SendableKeyPath<Model, UInt64>) -> RecordField {
    refused(name, keyPath, "values of UInt64 do not fit in 64 signed bits; use Int64")
  }

  /// Refuses an unsigned integer that is known by another name, when the schema is first used at the latest.
  @available(
    *, deprecated, message: "values of UInt64 do not fit in the 64 signed bits of a store; use Int64"
  )
  public static func field(_ name: String, _ keyPath: SendableKeyPath<Model, UInt64?>) -> RecordField {
    refused(name, keyPath, "values of UInt64 do not fit in 64 signed bits; use Int64")
  }

  /// Refuses an unsigned integer that is known by another name, when the schema is first used at the latest.
  @available(*, deprecated, message: "values of UInt do not fit in the 64 signed bits of a store; use Int")
  public static func field(_ name: String, _ keyPath: SendableKeyPath<Model, UInt>) -> RecordField {
    refused(name, keyPath, "values of UInt do not fit in 64 signed bits; use Int")
  }

  /// Refuses an unsigned integer that is known by another name, when the schema is first used at the latest.
  @available(*, deprecated, message: "values of UInt do not fit in the 64 signed bits of a store; use Int")
  public static func field(_ name: String, _ keyPath: SendableKeyPath<Model, UInt?>) -> RecordField {
    refused(name, keyPath, "values of UInt do not fit in 64 signed bits; use Int")
  }

  private static func refused(
    _ name: String, _ keyPath: SendablePartialKeyPath<Model>, _ reason: String
  ) -> RecordField {
    RecordField(schema: FieldSchema(name, .document), keyPath: keyPath, refusal: "“\(name)”: \(reason)")
  }
}

extension Row {
  /// Refuses a property of a type that is neither a kind that stores know nor `Codable`.
  @available(
    *, unavailable,
    message:
      "the property's type is neither PersistentValueConvertible nor Codable; make it one of them, or mark the property @Transient"
  )
  public func decode<Value>(at position: Int) throws -> Value {
    throw PersistenceError(.unsupported, "no \(Value.self) can be read from a row")
  }
}

extension RowBuffer {
  /// Refuses a property of a type that is neither a kind that stores know nor `Codable`.
  @available(
    *, unavailable,
    message:
      "the property's type is neither PersistentValueConvertible nor Codable; make it one of them, or mark the property @Transient"
  )
  public func store<Value>(_ value: Value, at position: Int) throws {
    throw PersistenceError(.unsupported, "no \(Value.self) can be written into a row")
  }
}
