public import PersistenceDriver

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
