/// An integer type whose values all fit 64 signed bits; `UInt` and `UInt64` do not (contract V1).
public protocol PersistentInteger: PersistentValueConvertible, FixedWidthInteger {}

extension PersistentInteger {
  /// False.
  @inlinable public static var isPersistentOptional: Bool { false }

  /// Reads an integer, refusing one that the type cannot hold.
  ///
  /// - Parameters:
  ///   - row: The row that an engine lends.
  ///   - position: The field's position in the schema.
  /// - Returns: The integer.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` where the field holds no
  ///   integer, or one out of range.
  @inlinable
  public static func read(from row: borrowing Row, at position: Int) throws -> Self {
    let stored = try row.cell(at: position, tag: .integer).integerValue
    guard let value = Self(exactly: stored) else {
      throw PersistenceError.damaged(
        "field number \(position) holds an integer out of range for \(Self.self)")
    }
    return value
  }

  /// Writes the integer.
  ///
  /// - Parameters:
  ///   - row: The row that a model fills.
  ///   - position: The field's position in the schema.
  @inlinable
  public func write(to row: RowBuffer, at position: Int) { row.setCell(.integer(Int64(self)), at: position) }

  /// The integer as predicates carry it.
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
