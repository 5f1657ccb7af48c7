public import Foundation
public import PersistenceDriver

/// A model that is stored as a row of named, typed fields.
///
/// `@Persistent` generates the conformance; you can also write it by hand. A record declares its ``schema``,
/// decodes itself from a row by position, and encodes itself into one. With these members, an extension
/// implements all of ``PersistentModel`` on every ``StorageContext``.
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

  /// The schema of the model: its name, fields, key and indexes.
  static var schema: RecordSchema<Self> { get }

  /// The contexts that support the model; any by default.
  static var supportedContexts: SupportedContexts { get }

  /// The value of the primary key.
  var primaryKey: PrimaryKey { get }

  /// Decodes a model from a row, whose fields have the order of the schema.
  ///
  /// - Parameter row: The borrowed row.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if a field does not contain a
  ///   value of its property's type.
  init(from row: borrowing Row) throws

  /// Encodes the model into a row, whose fields have the order of the schema.
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

  /// The primary key in the form that drivers use.
  public var recordKey: RecordKey { RecordKey(primaryKey.keyValues) }
}

/// A type of primary keys (contract O1): `Int`, `Int64`, `String`, `UUID`, a raw-representable wrapper of
/// one, or the struct that `@Persistent` generates for a composite key.
public protocol PersistentKey: Hashable, Sendable {
  /// The key's values, in the order of the schema's key fields.
  var keyValues: [PersistentValue] { get }
}

extension Int: PersistentKey {
  /// The key as a single value.
  public var keyValues: [PersistentValue] { [persistentValue] }
}

extension Int64: PersistentKey {
  /// The key as a single value.
  public var keyValues: [PersistentValue] { [persistentValue] }
}

extension String: PersistentKey {
  /// The key as a single value.
  public var keyValues: [PersistentValue] { [persistentValue] }
}

extension UUID: PersistentKey {
  /// The key as a single value.
  public var keyValues: [PersistentValue] { [persistentValue] }
}

extension PersistentKey where Self: RawRepresentable, RawValue: PersistentKey {
  /// The values of the wrapped key.
  public var keyValues: [PersistentValue] { rawValue.keyValues }
}
