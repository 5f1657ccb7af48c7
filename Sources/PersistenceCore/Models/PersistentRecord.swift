public import Foundation
public import PersistenceDriver

/// A model that is a row of named, typed fields: what `@Persistent` makes, and what can be written by hand.
///
/// A record says what it looks like (``schema``), reads itself from a row by position and writes itself into
/// one. An extension implements all of ``PersistentModel`` from that, on every ``StorageContext``.
///
/// ```swift
/// struct Movie: PersistentRecord {
///   var id: UUID
///   var title: String
///
///   static let schema = RecordSchema<Movie>(
///     "Movie", fields: [.field("id", \.id), .field("title", \.title)], key: [\.id])
///   var primaryKey: UUID { id }
///   init(from row: borrowing Row) throws {
///     id = try row.decode(at: 0)
///     title = try row.decode(at: 1)
///   }
///   func encode(into row: RowBuffer) throws {
///     row.encode(id, at: 0)
///     row.encode(title, at: 1)
///   }
/// }
/// ```
public protocol PersistentRecord: PersistentFields, Sendable {
  /// The type of the primary key.
  associatedtype PrimaryKey: PersistentKey

  /// What the model looks like to a store.
  static var schema: RecordSchema<Self> { get }

  /// Which contexts may hold the model; any by default.
  static var supportedContexts: SupportedContexts { get }

  /// The value of the primary key.
  var primaryKey: PrimaryKey { get }

  /// Reads a model from a row, whose fields stand in the schema's order.
  ///
  /// - Parameter row: The borrowed row.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if a field holds no value of
  ///   its property's type.
  init(from row: borrowing Row) throws

  /// Writes the model into a row, whose fields stand in the schema's order.
  ///
  /// - Parameter row: A row whose fields are all nil.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/encodingFailed`` if a nested value
  ///   cannot be encoded.
  func encode(into row: RowBuffer) throws
}

extension PersistentRecord {
  /// Any context.
  public static var supportedContexts: SupportedContexts { .any }

  /// The stored name of a property, looked up in the schema.
  public static func fieldName(for keyPath: AnyKeyPath) -> String? { schema.name(of: keyPath) }

  /// The primary key as drivers take it.
  public var recordKey: RecordKey { RecordKey(primaryKey.keyValues) }
}

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
