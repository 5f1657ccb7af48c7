import PersistenceCore
public import PersistenceDriver

/// A key path of any property that can be set, and that can cross threads.
public typealias SendableWritableKeyPath<Root, Value> = any WritableKeyPath<Root, Value> & Sendable

/// One property of a type of an app's domain, which knows nothing of persistence: its name and its key path.
///
/// ```swift
/// let fields: [DomainField<Movie>] = [.field("id", \.id), .field("title", \.title)]
/// ```
public struct DomainField<Domain: Sendable>: Sendable {
  /// The property's name, which is that of the entity's field that it is copied to.
  public let name: String

  let property: any DomainProperty<Domain>

  /// A property of a kind that stores know: a number, text, date and so on, or an optional of one.
  ///
  /// - Parameters:
  ///   - name: Its name in the domain's type.
  ///   - keyPath: The property.
  /// - Returns: The field.
  public static func field<Value: PersistentValueConvertible & Sendable>(
    _ name: String, _ keyPath: SendableWritableKeyPath<Domain, Value>
  ) -> DomainField {
    DomainField(name, keyPath) { $1.encode($0[keyPath: keyPath], at: $2) }
  }

  /// A property of any other `Codable` type, which entities keep as a document.
  ///
  /// - Parameters:
  ///   - name: Its name in the domain's type.
  ///   - keyPath: The property.
  /// - Returns: The field.
  @_disfavoredOverload
  public static func field<Value: Codable & Sendable>(
    _ name: String, _ keyPath: SendableWritableKeyPath<Domain, Value>
  ) -> DomainField {
    DomainField(name, keyPath) { try $1.encode($0[keyPath: keyPath], at: $2) }
  }

  /// A property of a type that no store knows: a rule says what becomes of it.
  ///
  /// - Parameters:
  ///   - name: Its name in the domain's type.
  ///   - keyPath: The property.
  /// - Returns: The field, which is never copied by name.
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

/// A property whose type is not told.
protocol DomainProperty<Domain>: Sendable {
  associatedtype Domain: Sendable

  /// The key path, to be compared.
  var anyKeyPath: AnyKeyPath { get }

  /// Writes the property into a field of an entity's row; nil where only a rule can.
  var write: (@Sendable (Domain, RowBuffer, Int) throws -> Void)? { get }

  /// What copies a property of an entity into this one; nil where the types are not the same.
  func copy<Entity>(from keyPath: PartialKeyPath<Entity>) -> (@Sendable (Entity, inout Domain) -> Void)?
}

private struct TypedProperty<Domain: Sendable, Value>: DomainProperty {
  let keyPath: SendableWritableKeyPath<Domain, Value>
  let write: (@Sendable (Domain, RowBuffer, Int) throws -> Void)?

  var anyKeyPath: AnyKeyPath { keyPath }

  func copy<Entity>(from other: PartialKeyPath<Entity>) -> (@Sendable (Entity, inout Domain) -> Void)? {
    guard let other = other as? KeyPath<Entity, Value> else { return nil }
    let source = UncheckedKeyPath(keyPath: other)
    return { [keyPath] entity, domain in domain[keyPath: keyPath] = entity[keyPath: source.keyPath] }
  }
}

/// A key path of an entity's schema, which captures nothing.
private struct UncheckedKeyPath<Root, Value>: @unchecked Sendable {  // schemas take Sendable key paths only
  let keyPath: KeyPath<Root, Value>
}
