import PersistenceCore
public import PersistenceDriver

/// A writable key path that is `Sendable`.
public typealias SendableWritableKeyPath<Root, Value> = any WritableKeyPath<Root, Value> & Sendable

/// A property of a domain type without persistence: its name and its key path.
///
/// ```swift
/// let fields: [DomainField<Movie>] = [.field("id", \.id), .field("title", \.title)]
/// ```
public struct DomainField<Domain: Sendable>: Sendable {
  /// The name of the property, and of the entity's field with the same content.
  public let name: String

  let property: any DomainProperty<Domain>

  /// A property of a type that stores support, such as a number, text, date, or an optional of one.
  ///
  /// - Parameters:
  ///   - name: The name of the property.
  ///   - keyPath: The property.
  /// - Returns: The field.
  public static func field<Value: PersistentValueConvertible & Sendable>(
    _ name: String, _ keyPath: SendableWritableKeyPath<Domain, Value>
  ) -> DomainField {
    DomainField(name, keyPath) { $1.encode($0[keyPath: keyPath], at: $2) }
  }

  /// A property of any other `Codable` type, which entities store as a document.
  ///
  /// - Parameters:
  ///   - name: The name of the property.
  ///   - keyPath: The property.
  /// - Returns: The field.
  @_disfavoredOverload
  public static func field<Value: Codable & Sendable>(
    _ name: String, _ keyPath: SendableWritableKeyPath<Domain, Value>
  ) -> DomainField {
    DomainField(name, keyPath) { try $1.encode($0[keyPath: keyPath], at: $2) }
  }

  /// A property of a type that no store supports.
  ///
  /// It needs a mapping rule.
  ///
  /// - Parameters:
  ///   - name: The name of the property.
  ///   - keyPath: The property.
  /// - Returns: The field, which the mapper never copies by name.
  public static func value<Value: Sendable>(
    _ name: String, _ keyPath: SendableWritableKeyPath<Domain, Value>
  ) -> DomainField {
    DomainField(name, keyPath, nil)
  }

  private init<Value>(
    _ name: String, _ keyPath: SendableWritableKeyPath<Domain, Value>,
    _ write: (@Sendable (Domain, RowBuffer, Int) throws -> Void)?
  ) {
    self.name = name
    property = TypedProperty(keyPath: keyPath, write: write)
  }
}
