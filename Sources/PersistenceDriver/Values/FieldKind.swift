/// The kind of a stored field's values (contract V1).
///
/// Integers of every width are stored as 64-bit integers. The schema keeps the width, so that reading detects a value
/// out of range.
public enum FieldKind: String, Sendable, Hashable, Codable, CaseIterable {
  /// `Bool`; false sorts before true.
  case bool
  /// `Int8`.
  case int8
  /// `Int16`.
  case int16
  /// `Int32`.
  case int32
  /// `Int64` and `Int`.
  case int64
  /// `UInt8`.
  case uint8
  /// `UInt16`.
  case uint16
  /// `UInt32`.
  case uint32
  /// `Float`, stored as the equal `Double`.
  case float
  /// `Double`.
  case double
  /// `String`, compared and ordered by its UTF-8 bytes.
  case string
  /// `[UInt8]` and `Data`.
  case data
  /// `Date`, stored as seconds since 2001-01-01 00:00:00 UTC.
  case date
  /// `UUID`, ordered by its 16 bytes.
  case uuid
  /// `URL`, stored and ordered as its text.
  case url
  /// `Decimal`, ordered by numeric value, NaN greatest.
  case decimal
  /// A nested `Codable` value, stored as one JSON document, which has equality but no order.
  case document
}

extension FieldKind {
  /// Whether values of this kind are integers.
  package var isInteger: Bool { integerRange != nil }

  /// The range of an integer kind; nil for other kinds.
  public var integerRange: ClosedRange<Int64>? {
    switch self {
    case .int8: Int64(Int8.min)...Int64(Int8.max)
    case .int16: Int64(Int16.min)...Int64(Int16.max)
    case .int32: Int64(Int32.min)...Int64(Int32.max)
    case .int64: Int64.min...Int64.max
    case .uint8: 0...Int64(UInt8.max)
    case .uint16: 0...Int64(UInt16.max)
    case .uint32: 0...Int64(UInt32.max)
    default: nil
    }
  }

  /// Whether a field of this kind can contain a double: a float only contains the doubles that are floats.
  package func canRepresent(_ number: Double) -> Bool {
    self != .float || number.isNaN || Double(Float(number)) == number
  }

  /// Whether values of this kind have an order, so that they can be sorted, compared and indexed.
  public var isOrdered: Bool { self != .document }

  /// Whether values of this kind are text that can be searched (contract V7).
  public var isText: Bool { self == .string || self == .url }

  /// Whether values of this kind may be a primary key (contract O1).
  package var isKey: Bool { self == .int64 || self == .string || self == .uuid }

  /// The tag of the cells that hold non-nil values of this kind.
  public var tag: RowCell.Tag {
    switch self {
    case .bool: .bool
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32: .integer
    case .float, .double: .double
    case .string, .url: .text
    case .data: .bytes
    case .date: .date
    case .uuid: .uuid
    case .decimal: .decimal
    case .document: .document
    }
  }
}
