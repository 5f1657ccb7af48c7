public import Foundation
import PersistencePrimitives

extension Data: PersistentValueConvertible {
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
  public static func read(from row: borrowing Row, at position: Int) throws -> Data {
    Data(try row.cell(at: position, tag: .bytes).borrowedText)
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
  @inlinable public var persistentValue: PersistentValue { .bytes([UInt8](self)) }
}

extension Date: PersistentValueConvertible {
  /// Stored as seconds since 2001-01-01 00:00:00 UTC.
  @inlinable public static var persistentKind: FieldKind { .date }

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
  public static func read(from row: borrowing Row, at position: Int) throws -> Date {
    Date(timeIntervalSinceReferenceDate: try row.cell(at: position, tag: .date).doubleValue)
  }

  /// Writes the value.
  ///
  /// - Parameters:
  ///   - row: The row under construction.
  ///   - position: The field's position in the schema.
  @inlinable
  public func write(to row: RowBuffer, at position: Int) {
    row.setCell(.date(timeIntervalSinceReferenceDate), at: position)
  }

  /// The value for predicates.
  @inlinable public var persistentValue: PersistentValue {
    .date(TotalOrder.normalized(timeIntervalSinceReferenceDate))
  }
}

extension UUID: PersistentValueConvertible {
  /// Stored as 16 bytes.
  @inlinable public static var persistentKind: FieldKind { .uuid }

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
  public static func read(from row: borrowing Row, at position: Int) throws -> UUID {
    try row.cell(at: position, tag: .uuid).uuidValue
  }

  /// Writes the value.
  ///
  /// - Parameters:
  ///   - row: The row under construction.
  ///   - position: The field's position in the schema.
  @inlinable
  public func write(to row: RowBuffer, at position: Int) { row.setCell(.uuid(self), at: position) }

  /// The value for predicates.
  @inlinable public var persistentValue: PersistentValue { .uuid(self) }
}

extension URL: PersistentValueConvertible {
  /// Stored as its absolute text.
  @inlinable public static var persistentKind: FieldKind { .url }

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - row: The borrowed row.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the field does not contain
  ///   such a value.
  @inlinable
  public static func read(from row: borrowing Row, at position: Int) throws -> URL {
    let text = String(decoding: try row.cell(at: position, tag: .text).borrowedText, as: UTF8.self)
    guard let url = URL(string: text) else {
      throw PersistenceError.damaged("field number \(position) contains text that is not a URL")
    }
    return url
  }

  /// Writes the value.
  ///
  /// - Parameters:
  ///   - row: The row under construction.
  ///   - position: The field's position in the schema.
  @inlinable
  public func write(to row: RowBuffer, at position: Int) { row.setText(absoluteString, at: position) }

  /// The value for predicates.
  @inlinable public var persistentValue: PersistentValue { .text(absoluteString) }
}

extension Decimal: PersistentValueConvertible {
  /// Stored as canonical decimal text.
  @inlinable public static var persistentKind: FieldKind { .decimal }

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - row: The borrowed row.
  ///   - position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the field does not contain
  ///   such a value.
  @inlinable
  public static func read(from row: borrowing Row, at position: Int) throws -> Decimal {
    try row.cell(at: position, tag: .decimal).decimalValue()
  }

  /// Writes the value.
  ///
  /// - Parameters:
  ///   - row: The row under construction.
  ///   - position: The field's position in the schema.
  @inlinable
  public func write(to row: RowBuffer, at position: Int) { row.setDecimal(self, at: position) }

  /// The value for predicates.
  @inlinable public var persistentValue: PersistentValue { .decimal(self) }
}
