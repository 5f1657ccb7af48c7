public import PersistenceDriver

/// The primary key of a record of another model, as a property: a relation that stores keep.
///
/// ```swift
/// @Persistent struct Movie {
///   var id: UUID
///   var studio: Reference<Studio>
///   @OnDelete(.setNil) var director: Reference<Person>?
/// }
/// movie.studio = studio.reference
/// let studio = try repository.find(movie.studio)
/// ```
///
/// At commit, the record with the key must exist in the same store (contract L1), and ``DeleteRule`` says what its deletion
/// does. A reference loads nothing. It compares and sorts as its key, and has an index.
public struct Reference<Target: PersistentRecord>: Sendable
where Target.PrimaryKey: PersistentValueConvertible {
  /// The primary key of the target.
  public var key: Target.PrimaryKey

  /// Creates a reference to the record with a key.
  @inlinable
  public init(_ key: Target.PrimaryKey) { self.key = key }
}

extension PersistentRecord where PrimaryKey: PersistentValueConvertible {
  /// A reference to this record.
  @inlinable
  public var reference: Reference<Self> { Reference(primaryKey) }
}

extension Reference: Hashable {
  /// Whether two references have the same key.
  @inlinable
  public static func == (left: Reference, right: Reference) -> Bool { left.key == right.key }

  /// Hashes the key.
  @inlinable
  public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension Reference: Comparable where Target.PrimaryKey: Comparable {
  /// Whether the key of one reference sorts before that of another.
  @inlinable
  public static func < (left: Reference, right: Reference) -> Bool { left.key < right.key }
}

extension Reference: Encodable where Target.PrimaryKey: Encodable {
  /// Encodes the key alone.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(key)
  }
}

extension Reference: Decodable where Target.PrimaryKey: Decodable {
  /// Decodes a key.
  public init(from decoder: any Decoder) throws {
    key = try decoder.singleValueContainer().decode(Target.PrimaryKey.self)
  }
}

extension Reference: CustomStringConvertible {
  /// The key as text.
  public var description: String { "\(key)" }
}

extension Reference: PersistentKey {
  /// The key's values.
  public var keyValues: [PersistentValue] { key.keyValues }
}

extension Reference: PersistentValueConvertible {
  /// The kind of the key.
  @inlinable public static var persistentKind: FieldKind { Target.PrimaryKey.persistentKind }

  /// Reads a key.
  @inlinable
  public static func read(from row: borrowing Row, at position: Int) throws -> Reference {
    Reference(try Target.PrimaryKey.read(from: row, at: position))
  }

  /// Writes the key.
  @inlinable
  public func write(to row: RowBuffer, at position: Int) { key.write(to: row, at: position) }

  /// The key for predicates.
  @inlinable public var persistentValue: PersistentValue { key.persistentValue }
}

/// The type of a property that refers to a record: ``Reference``, or an optional of one.
///
/// The package's own types conform; an app has no use for further ones.
public protocol ReferenceValue: PersistentValueConvertible, Hashable, Sendable {
  /// The model of the records.
  associatedtype Target: PersistentRecord where Target.PrimaryKey: PersistentValueConvertible

  /// What an inclusion has for the property: the record, or an optional one.
  associatedtype Included: Sendable

  /// The reference; nil if there is none.
  var reference: Reference<Target>? { get }

  /// Whether a property may refer to no record.
  static var isOptionalReference: Bool { get }

  /// What an inclusion has for the record at a position; a negative position is none, if the reference is optional.
  static func included(_ records: [Target], at position: Int) -> Included
}

extension Reference: ReferenceValue {
  /// The reference itself.
  public var reference: Reference<Target>? { self }

  /// False.
  @inlinable public static var isOptionalReference: Bool { false }

  /// The record.
  @inlinable
  public static func included(_ records: [Target], at position: Int) -> Target { records[position] }
}

extension Optional: ReferenceValue where Wrapped: ReferenceValue {
  /// The model of the records.
  public typealias Target = Wrapped.Target

  /// The wrapped reference.
  public var reference: Reference<Wrapped.Target>? { self?.reference }

  /// True.
  @inlinable public static var isOptionalReference: Bool { true }

  /// The record, or nil.
  @inlinable
  public static func included(_ records: [Wrapped.Target], at position: Int) -> Wrapped.Target? {
    position < 0 ? nil : records[position]
  }
}

extension ReferenceValue {
  /// The target as a type that declares itself.
  static var target: any PersistentRecord.Type { Target.self }
}
