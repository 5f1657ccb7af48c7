import PersistencePrimitives

extension Bool: PersistentValueConvertible {
  /// Stored as a truth value.
  @inlinable public static var persistentKind: FieldKind { .bool }

  /// False.
  @inlinable public static var isPersistentOptional: Bool { false }

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - row: The row that an engine lends.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` where the field holds no such
  ///   value.
  @inlinable
  public static func read(from row: borrowing Row, at position: Int) throws -> Bool {
    try row.cell(at: position, tag: .bool).boolValue
  }

  /// Writes the value.
  ///
  /// - Parameters:
  ///   - row: The row that a model fills.
  ///   - position: The field's position in the schema.
  @inlinable
  public func write(to row: RowBuffer, at position: Int) { row.setCell(.bool(self), at: position) }

  /// The value as predicates carry it.
  @inlinable public var persistentValue: PersistentValue { .bool(self) }
}

extension Double: PersistentValueConvertible {
  /// Stored as a floating-point number.
  @inlinable public static var persistentKind: FieldKind { .double }

  /// False.
  @inlinable public static var isPersistentOptional: Bool { false }

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - row: The row that an engine lends.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` where the field holds no such
  ///   value.
  @inlinable
  public static func read(from row: borrowing Row, at position: Int) throws -> Double {
    try row.cell(at: position, tag: .double).doubleValue
  }

  /// Writes the value.
  ///
  /// - Parameters:
  ///   - row: The row that a model fills.
  ///   - position: The field's position in the schema.
  @inlinable
  public func write(to row: RowBuffer, at position: Int) { row.setCell(.double(self), at: position) }

  /// The value as predicates carry it.
  @inlinable public var persistentValue: PersistentValue { .double(TotalOrder.normalized(self)) }
}

extension Float: PersistentValueConvertible {
  /// Stored as the double of equal value.
  @inlinable public static var persistentKind: FieldKind { .float }

  /// False.
  @inlinable public static var isPersistentOptional: Bool { false }

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - row: The row that an engine lends.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` where the field holds no such
  ///   value.
  @inlinable
  public static func read(from row: borrowing Row, at position: Int) throws -> Float {
    Float(try row.cell(at: position, tag: .double).doubleValue)
  }

  /// Writes the value.
  ///
  /// - Parameters:
  ///   - row: The row that a model fills.
  ///   - position: The field's position in the schema.
  @inlinable
  public func write(to row: RowBuffer, at position: Int) { row.setCell(.double(Double(self)), at: position) }

  /// The value as predicates carry it.
  @inlinable public var persistentValue: PersistentValue { .double(TotalOrder.normalized(Double(self))) }
}

extension String: PersistentValueConvertible {
  /// Stored as UTF-8 text.
  @inlinable public static var persistentKind: FieldKind { .string }

  /// False.
  @inlinable public static var isPersistentOptional: Bool { false }

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - row: The row that an engine lends.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` where the field holds no such
  ///   value.
  @inlinable
  public static func read(from row: borrowing Row, at position: Int) throws -> String {
    String(decoding: try row.cell(at: position, tag: .text).borrowedText, as: UTF8.self)
  }

  /// Writes the value.
  ///
  /// - Parameters:
  ///   - row: The row that a model fills.
  ///   - position: The field's position in the schema.
  @inlinable
  public func write(to row: RowBuffer, at position: Int) { row.setText(self, at: position) }

  /// The value as predicates carry it.
  @inlinable public var persistentValue: PersistentValue { .text(self) }
}

extension Array: PersistentValueConvertible where Element == UInt8 {
  /// Stored as bytes.
  @inlinable public static var persistentKind: FieldKind { .data }

  /// False.
  @inlinable public static var isPersistentOptional: Bool { false }

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - row: The row that an engine lends.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` where the field holds no such
  ///   value.
  @inlinable
  public static func read(from row: borrowing Row, at position: Int) throws -> [UInt8] {
    [UInt8](try row.cell(at: position, tag: .bytes).borrowedText)
  }

  /// Writes the value.
  ///
  /// - Parameters:
  ///   - row: The row that a model fills.
  ///   - position: The field's position in the schema.
  @inlinable
  public func write(to row: RowBuffer, at position: Int) {
    withUnsafeBytes { row.setBytes($0, at: position) }
  }

  /// The value as predicates carry it.
  @inlinable public var persistentValue: PersistentValue { .bytes(self) }
}
