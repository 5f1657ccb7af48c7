/// A Swift type that a stored field may have.
///
/// All kinds of contract V1 conform. A raw-representable enum or struct over any of them conforms by saying so;
/// optionals conform where what they wrap does. Other `Codable` types are stored as documents and need no
/// conformance.
public protocol PersistentValueConvertible {
  /// The kind of field that holds the values of this type.
  static var persistentKind: FieldKind { get }

  /// Whether the type has a nil, that is, whether it is an `Optional`.
  static var isPersistentOptional: Bool { get }

  /// Reads a value from a field of a row.
  ///
  /// - Parameters:
  ///   - row: The row that an engine lends.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` where the field holds no value
  ///   of this type.
  static func read(from row: borrowing Row, at position: Int) throws -> Self

  /// Writes the value into a field of a row under construction.
  ///
  /// - Parameters:
  ///   - row: The row that a model fills.
  ///   - position: The field's position in the schema.
  func write(to row: RowBuffer, at position: Int)

  /// The value as predicates, cursors and errors carry it.
  var persistentValue: PersistentValue { get }
}

extension PersistentValueConvertible where Self: RawRepresentable, RawValue: PersistentValueConvertible {
  /// The kind of the raw value.
  @inlinable public static var persistentKind: FieldKind { RawValue.persistentKind }

  /// Whether the raw value has a nil.
  @inlinable public static var isPersistentOptional: Bool { RawValue.isPersistentOptional }

  /// Reads the raw value and makes the value that it stands for.
  ///
  /// - Parameters:
  ///   - row: The row that an engine lends.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` where the stored raw value
  ///   stands for no value of the type.
  @inlinable
  public static func read(from row: borrowing Row, at position: Int) throws -> Self {
    let raw = try RawValue.read(from: row, at: position)
    guard let value = Self(rawValue: raw) else {
      throw PersistenceError.damaged("field number \(position) holds a raw value that is no \(Self.self)")
    }
    return value
  }

  /// Writes the raw value.
  ///
  /// - Parameters:
  ///   - row: The row that a model fills.
  ///   - position: The field's position in the schema.
  @inlinable
  public func write(to row: RowBuffer, at position: Int) { rawValue.write(to: row, at: position) }

  /// The raw value as predicates carry it.
  @inlinable public var persistentValue: PersistentValue { rawValue.persistentValue }
}

extension Optional: PersistentValueConvertible where Wrapped: PersistentValueConvertible {
  /// The kind of what is wrapped.
  @inlinable public static var persistentKind: FieldKind { Wrapped.persistentKind }

  /// True.
  @inlinable public static var isPersistentOptional: Bool { true }

  /// Reads a value, nil where the field is.
  ///
  /// - Parameters:
  ///   - row: The row that an engine lends.
  ///   - position: The field's position in the schema.
  /// - Returns: The value or nil.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` where the field holds another
  ///   kind of value.
  @inlinable
  public static func read(from row: borrowing Row, at position: Int) throws -> Wrapped? {
    row[position].isNull ? nil : try Wrapped.read(from: row, at: position)
  }

  /// Writes the value, or nil.
  ///
  /// - Parameters:
  ///   - row: The row that a model fills.
  ///   - position: The field's position in the schema.
  @inlinable
  public func write(to row: RowBuffer, at position: Int) {
    switch self {
    case .none: row.setCell(.null, at: position)
    case .some(let value): value.write(to: row, at: position)
    }
  }

  /// The wrapped value, or ``PersistentValue/null``.
  @inlinable public var persistentValue: PersistentValue { self?.persistentValue ?? .null }
}
