public import PersistenceDriver

/// A secondary index of a record type, over one property or several.
public struct RecordIndex<Model>: @unchecked Sendable {  // its key paths capture nothing
  let keyPaths: [PartialKeyPath<Model>]
  let isUnique: Bool

  /// Declares an index.
  ///
  /// - Parameters:
  ///   - keyPaths: The indexed properties, in order.
  ///   - isUnique: Whether records must differ in these values; nil never collides (contract W4).
  public init(_ keyPaths: [PartialKeyPath<Model>], isUnique: Bool = false) {
    self.keyPaths = keyPaths
    self.isUnique = isUnique
  }

  /// Declares an index over properties whose types have an order, which the compiler checks.
  ///
  /// - Parameters:
  ///   - properties: The indexed properties, in order.
  ///   - isUnique: Whether records must differ in these values; nil never collides (contract W4).
  public init<each Value: PersistentValueConvertible>(
    _ properties: repeat KeyPath<Model, each Value>, isUnique: Bool = false
  ) {
    var keyPaths: [PartialKeyPath<Model>] = []
    repeat keyPaths.append(each properties)
    self.keyPaths = keyPaths
    self.isUnique = isUnique
  }

  /// Rejects a property whose type does not conform to `PersistentValueConvertible`.
  @available(
    *, unavailable,
    message:
      "index properties of PersistentValueConvertible types; write .property(\\.name) for a raw-representable Codable type"
  )
  @_disfavoredOverload
  public init<each Value>(_ properties: repeat KeyPath<Model, each Value>, isUnique: Bool = false) {
    self.init([PartialKeyPath<Model>](), isUnique: isUnique)
  }

  /// Declares an index over properties whose types have an order, which the compiler checks for each of them.
  ///
  /// `@Persistent` generates calls of this initializer: a raw-representable `Codable` type can be indexed too.
  ///
  /// - Parameters:
  ///   - properties: The indexed properties, in order.
  ///   - isUnique: Whether records must differ in these values; nil never collides (contract W4).
  public init(_ properties: IndexedProperty<Model>..., isUnique: Bool = false) {
    keyPaths = properties.map(\.keyPath)
    self.isUnique = isUnique
  }
}

/// A property of an index, whose type has an order.
public struct IndexedProperty<Model>: @unchecked Sendable {  // its key path captures nothing
  let keyPath: PartialKeyPath<Model>

  /// A property of a `PersistentValueConvertible` type, or an optional of one.
  public static func property<Value: PersistentValueConvertible>(
    _ keyPath: KeyPath<Model, Value>
  ) -> IndexedProperty { IndexedProperty(keyPath: keyPath) }

  /// A property of a raw-representable `Codable` type, which is stored as its raw value.
  @_disfavoredOverload
  public static func property<Value: RawRepresentable & Codable>(
    _ keyPath: KeyPath<Model, Value>
  ) -> IndexedProperty where Value.RawValue: PersistentValueConvertible { IndexedProperty(keyPath: keyPath) }

  /// An optional property of a raw-representable `Codable` type, which is stored as its raw value.
  @_disfavoredOverload
  public static func property<Value: RawRepresentable & Codable>(
    _ keyPath: KeyPath<Model, Value?>
  ) -> IndexedProperty where Value.RawValue: PersistentValueConvertible { IndexedProperty(keyPath: keyPath) }

  /// Rejects a property that is stored as a document.
  @available(
    *, unavailable,
    message:
      "the property is stored as a document, which has no order and cannot be indexed; index a property of its own"
  )
  public static func property<Value>(_ keyPath: KeyPath<Model, Value>) -> IndexedProperty {
    IndexedProperty(keyPath: keyPath)
  }
}
