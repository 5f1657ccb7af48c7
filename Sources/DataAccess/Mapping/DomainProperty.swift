import PersistenceDriver

/// A property of an erased type.
protocol DomainProperty<Domain>: Sendable {
  associatedtype Domain: Sendable

  /// The key path, for comparison.
  var anyKeyPath: AnyKeyPath { get }

  /// Writes the property to a field of an entity's row; nil if only a rule can.
  var write: (@Sendable (Domain, RowBuffer, Int) throws -> Void)? { get }

  /// A closure that copies an entity's property to this one; nil if the types differ.
  func copy<Entity>(from keyPath: PartialKeyPath<Entity>) -> (@Sendable (Entity, inout Domain) -> Void)?
}

struct TypedProperty<Domain: Sendable, Value>: DomainProperty {
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
private struct UncheckedKeyPath<Root, Value>: @unchecked Sendable {  // schemas accept only Sendable key paths
  let keyPath: KeyPath<Root, Value>
}
