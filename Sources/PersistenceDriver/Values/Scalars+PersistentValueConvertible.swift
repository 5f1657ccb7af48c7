import PersistencePrimitives

extension Bool: PersistentValueConvertible {
  /// Stored as a Boolean value.
  @inlinable public static var persistentKind: FieldKind { .bool }

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - row: The borrowed row.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the field does not contain
  ///   such a value.
  @inlinable
  @inline(__always)
  public static func read(from row: borrowing Row, at position: Int) throws -> Bool {
    try row.cell(at: position, tag: .bool).boolValue
  }

  /// Writes the value.
  ///
  /// - Parameters:
  ///   - row: The row under construction.
  ///   - position: The field's position in the schema.
  @inlinable
  public func write(to row: RowBuffer, at position: Int) { row.setCell(.bool(self), at: position) }

  /// The value for predicates.
  @inlinable public var persistentValue: PersistentValue { .bool(self) }
}

extension Double: PersistentValueConvertible {
  /// Stored as a floating-point number.
  @inlinable public static var persistentKind: FieldKind { .double }

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - row: The borrowed row.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the field does not contain
  ///   such a value.
  @inlinable
  @inline(__always)
  public static func read(from row: borrowing Row, at position: Int) throws -> Double {
    try row.cell(at: position, tag: .double).doubleValue
  }

  /// Writes the value.
  ///
  /// - Parameters:
  ///   - row: The row under construction.
  ///   - position: The field's position in the schema.
  @inlinable
  public func write(to row: RowBuffer, at position: Int) { row.setCell(.double(self), at: position) }

  /// The value for predicates.
  @inlinable public var persistentValue: PersistentValue { .double(TotalOrder.normalized(self)) }
}

extension Float: PersistentValueConvertible {
  /// Stored as the double of equal value.
  @inlinable public static var persistentKind: FieldKind { .float }

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - row: The borrowed row.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the field does not contain
  ///   such a value.
  @inlinable
  @inline(__always)
  public static func read(from row: borrowing Row, at position: Int) throws -> Float {
    Float(try row.cell(at: position, tag: .double).doubleValue)
  }

  /// Writes the value.
  ///
  /// - Parameters:
  ///   - row: The row under construction.
  ///   - position: The field's position in the schema.
  @inlinable
  public func write(to row: RowBuffer, at position: Int) { row.setCell(.double(Double(self)), at: position) }

  /// The value for predicates.
  @inlinable public var persistentValue: PersistentValue { .double(TotalOrder.normalized(Double(self))) }
}

extension String: PersistentValueConvertible {
  /// Stored as UTF-8 text.
  @inlinable public static var persistentKind: FieldKind { .string }

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - row: The borrowed row.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the field does not contain
  ///   such a value.
  @inlinable
  @inline(__always)
  public static func read(from row: borrowing Row, at position: Int) throws -> String {
    String(decoding: try row.cell(at: position, tag: .text).borrowedText, as: UTF8.self)
  }

  /// Writes the value.
  ///
  /// - Parameters:
  ///   - row: The row under construction.
  ///   - position: The field's position in the schema.
  @inlinable
  public func write(to row: RowBuffer, at position: Int) { row.setText(self, at: position) }

  /// The value for predicates.
  @inlinable public var persistentValue: PersistentValue { .text(self) }
}

extension Array: PersistentValueConvertible where Element == UInt8 {
  /// Stored as bytes.
  @inlinable public static var persistentKind: FieldKind { .data }

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - row: The borrowed row.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the field does not contain
  ///   such a value.
  @inlinable
  public static func read(from row: borrowing Row, at position: Int) throws -> [UInt8] {
    [UInt8](try row.cell(at: position, tag: .bytes).borrowedText)
  }

  /// Writes the value.
  ///
  /// - Parameters:
  ///   - row: The row under construction.
  ///   - position: The field's position in the schema.
  @inlinable
  public func write(to row: RowBuffer, at position: Int) {
    withUnsafeBytes { row.setBytes($0, at: position) }
  }

  /// The value for predicates.
  @inlinable public var persistentValue: PersistentValue { .bytes(self) }
}

/// An integer type with at most 64 signed bits, which excludes `UInt` and `UInt64` (contract V1).
public protocol PersistentInteger: PersistentValueConvertible, FixedWidthInteger {}

extension PersistentInteger {
  /// Reads an integer, and checks its range.
  ///
  /// - Parameters:
  ///   - row: The borrowed row.
  ///   - position: The field's position in the schema.
  /// - Returns: The integer.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the field does not contain
  ///   an integer in range.
  @inlinable
  @inline(__always)
  public static func read(from row: borrowing Row, at position: Int) throws -> Self {
    let stored = try row.cell(at: position, tag: .integer).integerValue
    guard let value = Self(exactly: stored) else {
      throw PersistenceError.damaged(
        "field number \(position) contains an integer outside the range of \(Self.self)")
    }
    return value
  }

  /// Writes the integer.
  ///
  /// - Parameters:
  ///   - row: The row under construction.
  ///   - position: The field's position in the schema.
  @inlinable
  public func write(to row: RowBuffer, at position: Int) { row.setCell(.integer(Int64(self)), at: position) }

  /// The integer for predicates.
  @inlinable public var persistentValue: PersistentValue { .integer(Int64(self)) }
}

extension Int: PersistentInteger {
  /// Stored as an integer field of its width.
  @inlinable public static var persistentKind: FieldKind { .int64 }
}

extension Int64: PersistentInteger {
  /// Stored as an integer field of its width.
  @inlinable public static var persistentKind: FieldKind { .int64 }
}

extension Int32: PersistentInteger {
  /// Stored as an integer field of its width.
  @inlinable public static var persistentKind: FieldKind { .int32 }
}

extension Int16: PersistentInteger {
  /// Stored as an integer field of its width.
  @inlinable public static var persistentKind: FieldKind { .int16 }
}

extension Int8: PersistentInteger {
  /// Stored as an integer field of its width.
  @inlinable public static var persistentKind: FieldKind { .int8 }
}

extension UInt32: PersistentInteger {
  /// Stored as an integer field of its width.
  @inlinable public static var persistentKind: FieldKind { .uint32 }
}

extension UInt16: PersistentInteger {
  /// Stored as an integer field of its width.
  @inlinable public static var persistentKind: FieldKind { .uint16 }
}

extension UInt8: PersistentInteger {
  /// Stored as an integer field of its width.
  @inlinable public static var persistentKind: FieldKind { .uint8 }
}
