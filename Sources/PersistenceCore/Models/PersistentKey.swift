public import Foundation
public import PersistenceDriver

/// A type that a primary key may have (contract O1): `Int`, `Int64`, `String`, `UUID`, a raw-representable
/// wrapper of one, or a struct of several that `@Persistent` makes for a composite key.
public protocol PersistentKey: Hashable, Sendable {
  /// The key's values, in the order of the schema's key fields.
  var keyValues: [PersistentValue] { get }
}

extension Int: PersistentKey {
  /// The one value of the key.
  public var keyValues: [PersistentValue] { [persistentValue] }
}

extension Int64: PersistentKey {
  /// The one value of the key.
  public var keyValues: [PersistentValue] { [persistentValue] }
}

extension String: PersistentKey {
  /// The one value of the key.
  public var keyValues: [PersistentValue] { [persistentValue] }
}

extension UUID: PersistentKey {
  /// The one value of the key.
  public var keyValues: [PersistentValue] { [persistentValue] }
}

extension PersistentKey where Self: RawRepresentable, RawValue: PersistentKey {
  /// The values of the wrapped key.
  public var keyValues: [PersistentValue] { rawValue.keyValues }
}
