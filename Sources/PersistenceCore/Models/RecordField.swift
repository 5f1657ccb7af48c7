public import PersistenceDriver
import PersistenceDriverSupport

/// One stored property of a record type: its stored name, kind and key path.
public struct RecordField<Model>: @unchecked Sendable {  // the key path of a stored property captures nothing
  /// The schema of the field in stores.
  public let schema: FieldSchema

  let keyPath: PartialKeyPath<Model>

  /// The type whose JSON the field contains; nil for any other kind of field.
  var document: (any Decodable.Type)?

  /// What the declaration says of the field's past.
  var past = ModelDeclaration.Field()

  /// The target and the delete rule of a reference; nil for any other field.
  var reference: (target: any PersistentRecord.Type, rule: DeleteRule)?

  /// Why no store can represent the field; thrown when the schema is first used.
  var refusal: String?

  /// Declares a property of a `PersistentValueConvertible` type (a number, text, a date and so on), or an
  /// optional of one.
  ///
  /// - Parameters:
  ///   - name: The stored name.
  ///   - keyPath: The property.
  ///   - was: Earlier stored names.
  ///   - fill: The value of records from before the field; without one, a store with records cannot get a required
  ///     field.
  /// - Returns: The field.
  public static func field<Value: PersistentValueConvertible>(
    _ name: String, _ keyPath: KeyPath<Model, Value>, was: [String] = [], fill: Value? = nil
  ) -> RecordField {
    var field = RecordField(
      schema: FieldSchema(name, Value.persistentKind, isOptional: Value.isPersistentOptional),
      keyPath: keyPath,
      past: ModelDeclaration.Field(formerNames: was, fill: fill?.persistentValue.normalized))
    if let type = Value.self as? any ReferenceValue.Type { field.reference = (type.target, .restrict) }
    return field
  }

  /// Declares a reference, or an optional one, with the rule for the deletion of its target.
  ///
  /// - Parameters:
  ///   - name: The stored name.
  ///   - keyPath: The property.
  ///   - was: Earlier stored names.
  ///   - fill: The value of records from before the field.
  ///   - rule: What happens to the record when its target is deleted; `.setNil` needs an optional property.
  /// - Returns: The field.
  public static func field<Value: ReferenceValue>(
    _ name: String, _ keyPath: KeyPath<Model, Value>, was: [String] = [], fill: Value? = nil,
    onDelete rule: DeleteRule
  ) -> RecordField {
    var field = field(name, keyPath, was: was, fill: fill)
    field.reference = (Value.target, rule)
    if rule == .setNil, !Value.isPersistentOptional {
      field.refusal = "“\(name)” cannot become nil when its target is deleted; make it optional"
    }
    return field
  }

  /// Declares a property of a raw-representable `Codable` type, such as an `enum Rating: String, Codable`, stored as its
  /// raw value.
  ///
  /// - Parameters:
  ///   - name: The stored name.
  ///   - keyPath: The property.
  ///   - was: Earlier stored names.
  ///   - fill: The value of records from before the field.
  /// - Returns: The field.
  @_disfavoredOverload
  public static func field<Value: RawRepresentable & Codable>(
    _ name: String, _ keyPath: KeyPath<Model, Value>, was: [String] = [], fill: Value? = nil
  ) -> RecordField where Value.RawValue: PersistentValueConvertible {
    raw(name, keyPath, Value.self, isOptional: Value.RawValue.isPersistentOptional, was, fill)
  }

  /// Declares an optional property of a raw-representable `Codable` type, stored as its raw value or nil.
  ///
  /// - Parameters:
  ///   - name: The stored name.
  ///   - keyPath: The property.
  ///   - was: Earlier stored names.
  ///   - fill: The value of records from before the field.
  /// - Returns: The field.
  @_disfavoredOverload
  public static func field<Value: RawRepresentable & Codable>(
    _ name: String, _ keyPath: KeyPath<Model, Value?>, was: [String] = [], fill: Value? = nil
  ) -> RecordField where Value.RawValue: PersistentValueConvertible {
    raw(name, keyPath, Value.self, isOptional: true, was, fill)
  }

  private static func raw<Value: RawRepresentable>(
    _ name: String, _ keyPath: PartialKeyPath<Model>, _ type: Value.Type, isOptional: Bool, _ was: [String],
    _ fill: Value?
  ) -> RecordField where Value.RawValue: PersistentValueConvertible {
    RecordField(
      schema: FieldSchema(name, Value.RawValue.persistentKind, isOptional: isOptional), keyPath: keyPath,
      past: ModelDeclaration.Field(
        formerNames: was, fill: fill?.rawValue.persistentValue.normalized))
  }

  /// Declares a property of any other `Codable` type or an optional of one, stored as one JSON document or nil.
  ///
  /// - Parameters:
  ///   - name: The stored name.
  ///   - keyPath: The property.
  ///   - was: Earlier stored names.
  ///   - fill: The value of records from before the field.
  /// - Returns: The field.
  @_disfavoredOverload
  public static func field<Value: Codable>(
    _ name: String, _ keyPath: KeyPath<Model, Value>, was: [String] = [], fill: Value? = nil
  ) -> RecordField {
    let isOptional = Value.self is any OptionalValue.Type
    var field = RecordField(schema: FieldSchema(name, .document, isOptional: isOptional), keyPath: keyPath)
    field.document = Value.self
    field.past.formerNames = was
    guard let fill else { return field }
    do {
      field.past.fill = try DocumentCoding.encode(fill).map { PersistentValue.document($0) } ?? .null
    } catch {
      field.refusal = "the fill of “\(name)” cannot be encoded: \(error)"
    }
    return field
  }
}

// Overloads for types that stores cannot represent. Without them, the compiler would list the overloads that
// failed instead of the reason.

extension RecordField {
  /// Rejects a property whose type is neither `PersistentValueConvertible` nor `Codable`.
  @available(
    *, unavailable,
    message:
      "the property's type is neither PersistentValueConvertible nor Codable; make it one of them, or mark the property @Transient"
  )
  public static func field<Value>(
    _ name: String, _ keyPath: KeyPath<Model, Value>, was: [String] = [], fill: Value? = nil
  ) -> RecordField {
    refused(name, keyPath, "its type is neither PersistentValueConvertible nor Codable")
  }

  /// Rejects a delete rule on a property that is no reference.
  @available(
    *, unavailable, message: "@OnDelete belongs on a property of the type Reference, or an optional of it"
  )
  @_disfavoredOverload
  public static func field<Value>(
    _ name: String, _ keyPath: KeyPath<Model, Value>, was: [String] = [], fill: Value? = nil,
    onDelete rule: DeleteRule
  ) -> RecordField {
    refused(name, keyPath, "a delete rule belongs on a reference")
  }

  /// Rejects an unsigned integer behind a type alias, at the latest when the schema is first used.
  @available(
    *, deprecated, message: "values of UInt64 do not fit in the 64 signed bits of a store; use Int64"
  )
  public static func field(
    _ name: String, _ keyPath: KeyPath<Model, UInt64>, was: [String] = [], fill: UInt64? = nil
  ) -> RecordField {
    refused(name, keyPath, "values of UInt64 do not fit in 64 signed bits; use Int64")
  }

  /// Rejects an unsigned integer behind a type alias, at the latest when the schema is first used.
  @available(
    *, deprecated, message: "values of UInt64 do not fit in the 64 signed bits of a store; use Int64"
  )
  public static func field(
    _ name: String, _ keyPath: KeyPath<Model, UInt64?>, was: [String] = [], fill: UInt64? = nil
  ) -> RecordField {
    refused(name, keyPath, "values of UInt64 do not fit in 64 signed bits; use Int64")
  }

  /// Rejects an unsigned integer behind a type alias, at the latest when the schema is first used.
  @available(*, deprecated, message: "values of UInt do not fit in the 64 signed bits of a store; use Int")
  public static func field(
    _ name: String, _ keyPath: KeyPath<Model, UInt>, was: [String] = [], fill: UInt? = nil
  ) -> RecordField {
    refused(name, keyPath, "values of UInt do not fit in 64 signed bits; use Int")
  }

  /// Rejects an unsigned integer behind a type alias, at the latest when the schema is first used.
  @available(*, deprecated, message: "values of UInt do not fit in the 64 signed bits of a store; use Int")
  public static func field(
    _ name: String, _ keyPath: KeyPath<Model, UInt?>, was: [String] = [], fill: UInt? = nil
  ) -> RecordField {
    refused(name, keyPath, "values of UInt do not fit in 64 signed bits; use Int")
  }

  private static func refused(
    _ name: String, _ keyPath: PartialKeyPath<Model>, _ reason: String
  ) -> RecordField {
    RecordField(schema: FieldSchema(name, .document), keyPath: keyPath, refusal: "“\(name)”: \(reason)")
  }
}

extension Row {
  /// Rejects a property whose type is neither `PersistentValueConvertible` nor `Codable`.
  @available(
    *, unavailable,
    message:
      "the property's type is neither PersistentValueConvertible nor Codable; make it one of them, or mark the property @Transient"
  )
  public func decode<Value>(at position: Int) throws -> Value {
    throw PersistenceError(.unsupported, "a \(Value.self) cannot be read from a row")
  }
}

extension RowBuffer {
  /// Rejects a property whose type is neither `PersistentValueConvertible` nor `Codable`.
  @available(
    *, unavailable,
    message:
      "the property's type is neither PersistentValueConvertible nor Codable; make it one of them, or mark the property @Transient"
  )
  public func store<Value>(_ value: Value, at position: Int) throws {
    throw PersistenceError(.unsupported, "a \(Value.self) cannot be written into a row")
  }
}
