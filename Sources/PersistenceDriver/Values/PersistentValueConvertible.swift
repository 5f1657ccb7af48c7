/// A Swift type for stored fields.
///
/// All kinds of contract V1 conform. A raw-representable enum or struct over one of them conforms by declaration, and
/// an optional conforms if its wrapped type does. Other `Codable` types are stored as documents without conformance.
public protocol PersistentValueConvertible {
  /// The kind of field that holds the values of this type.
  static var persistentKind: FieldKind { get }

  /// Whether the type is an `Optional`.
  static var isPersistentOptional: Bool { get }

  /// Reads a value from a field of a row.
  ///
  /// - Parameters:
  ///   - row: The borrowed row.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the field does not contain a
  ///   value of this type.
  static func read(from row: borrowing Row, at position: Int) throws -> Self

  /// Writes the value into a field of a row under construction.
  ///
  /// - Parameters:
  ///   - row: The row under construction.
  ///   - position: The field's position in the schema.
  func write(to row: RowBuffer, at position: Int)

  /// The value for predicates, cursors and errors.
  var persistentValue: PersistentValue { get }
}

extension PersistentValueConvertible {
  /// False: only optionals have a nil.
  @inlinable public static var isPersistentOptional: Bool { false }
}

extension PersistentValueConvertible where Self: RawRepresentable, RawValue: PersistentValueConvertible {
  /// The kind of the raw value.
  @inlinable public static var persistentKind: FieldKind { RawValue.persistentKind }

  /// Whether the raw value has a nil.
  @inlinable public static var isPersistentOptional: Bool { RawValue.isPersistentOptional }

  /// Reads the raw value and converts it.
  ///
  /// - Parameters:
  ///   - row: The borrowed row.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownCase`` if the type has no value with
  ///   the stored raw value.
  @inlinable
  public static func read(from row: borrowing Row, at position: Int) throws -> Self {
    let raw = try RawValue.read(from: row, at: position)
    guard let value = Self(rawValue: raw) else {
      throw PersistenceError.unknownCase(of: Self.self, at: position)
    }
    return value
  }

  /// Writes the raw value.
  ///
  /// - Parameters:
  ///   - row: The row under construction.
  ///   - position: The field's position in the schema.
  @inlinable
  public func write(to row: RowBuffer, at position: Int) { rawValue.write(to: row, at: position) }

  /// The raw value for predicates.
  @inlinable public var persistentValue: PersistentValue { rawValue.persistentValue }
}

extension PersistentValueConvertible where Self: RawRepresentable & CaseIterable, RawValue == String {
  /// Reads the name of a case and finds the case.
  ///
  /// - Parameters:
  ///   - row: The borrowed row.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownCase`` if the type has no value with
  ///   the stored raw value.
  /// - Complexity: Linear in the number of cases.
  @inlinable
  public static func read(from row: borrowing Row, at position: Int) throws -> Self {
    try row.namedCase(at: position)
  }
}

extension Row {
  /// The value of a type whose raw value a field contains.
  ///
  /// Bytes are compared, and only if no case has them, strings: these are also equal if they are canonically equivalent,
  /// and a type may take more raw values than its cases have.
  @inlinable
  package func namedCase<Value: RawRepresentable & CaseIterable>(at position: Int) throws -> Value
  where Value.RawValue == String {
    let name = try cell(at: position, tag: .text).borrowedText
    for value in Value.allCases {
      // Unlike `withUTF8`, this needs no copy of the string, and leaves bridged strings to the initializer.
      let raw = value.rawValue.utf8
      guard raw.count == name.count else { continue }
      if raw.withContiguousStorageIfAvailable({ $0.elementsEqual(name) }) == true { return value }
    }
    guard let value = Value(rawValue: String(decoding: name, as: UTF8.self)) else {
      throw PersistenceError.unknownCase(of: Value.self, at: position)
    }
    return value
  }
}

extension Optional: PersistentValueConvertible where Wrapped: PersistentValueConvertible {
  /// The kind of the wrapped type.
  @inlinable public static var persistentKind: FieldKind { Wrapped.persistentKind }

  /// True.
  @inlinable public static var isPersistentOptional: Bool { true }

  /// Reads a value; nil if the field is nil.
  ///
  /// - Parameters:
  ///   - row: The borrowed row.
  ///   - position: The field's position in the schema.
  /// - Returns: The value or nil.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the field contains another
  ///   kind of value.
  @inlinable
  @inline(__always)
  public static func read(from row: borrowing Row, at position: Int) throws -> Wrapped? {
    try row.isNull(at: position) ? nil : try Wrapped.read(from: row, at: position)
  }

  /// Writes the value, or nil.
  ///
  /// - Parameters:
  ///   - row: The row under construction.
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
