public import Foundation
import PersistencePrimitives

/// A stored value of any kind that every context supports (contract V1).
///
/// Drivers and predicates use it; ``PersistentValueConvertible`` converts typed properties to and from it. The contract
/// defines equality and order: text by UTF-8 bytes, NaN equal to NaN and greatest, −0.0 equal to 0.0, decimals by
/// numeric value.
public enum PersistentValue: Sendable {
  /// Nil.
  case null
  /// A Boolean value.
  case bool(Bool)
  /// An integer of any width up to 64 bits.
  case integer(Int64)
  /// A floating-point number; a `Float` is stored as the equal `Double`.
  case double(Double)
  /// Text, scalar for scalar.
  case text(String)
  /// Bytes.
  case bytes([UInt8])
  /// A date, in seconds since 2001-01-01 00:00:00 UTC.
  case date(Double)
  /// A UUID.
  case uuid(UUID)
  /// A decimal number.
  case decimal(Decimal)
  /// A nested value as canonical JSON text: members sorted by the UTF-8 bytes of their names, no white space.
  case document(String)
}

extension PersistentValue {
  /// Whether the value is nil.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The tag of a cell with this value.
  public var tag: RowCell.Tag {
    switch self {
    case .null: .null
    case .bool: .bool
    case .integer: .integer
    case .double: .double
    case .text: .text
    case .bytes: .bytes
    case .date: .date
    case .uuid: .uuid
    case .decimal: .decimal
    case .document: .document
    }
  }

  /// The normalized value: −0.0 becomes 0.0, and every NaN the same NaN.
  package var normalized: PersistentValue {
    switch self {
    case .double(let number): .double(TotalOrder.normalized(number))
    case .date(let seconds): .date(TotalOrder.normalized(seconds))
    default: self
    }
  }
}

extension PersistentValue: Hashable {
  /// Whether two values are equal (contract V3 to V4a); values of different kinds never are.
  public static func == (left: PersistentValue, right: PersistentValue) -> Bool {
    left.tag == right.tag && compare(left, right) == 0
  }

  /// Hashes the value.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(tag)
    switch self {
    case .null: break
    case .bool(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .double(let value), .date(let value): hasher.combine(TotalOrder.key(value))
    case .text(let value), .document(let value):
      var value = value
      value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .bytes(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    case .decimal(let value): hasher.combine(value)
    }
  }
}

extension PersistentValue: Comparable {
  /// Whether one value sorts before another: nil first, then by the order of their kind (contract O3, V3 to
  /// V4a), and values of different kinds by kind.
  public static func < (left: PersistentValue, right: PersistentValue) -> Bool {
    compare(left, right) < 0
  }

  /// Compares two values: negative, zero or positive as the left sorts before, with or after the right.
  ///
  /// Complexity: linear in the length of text and bytes, otherwise constant.
  public static func compare(_ left: PersistentValue, _ right: PersistentValue) -> Int {
    switch (left, right) {
    case (.null, .null): 0
    case (.bool(let left), .bool(let right)): TotalOrder.compare(Int64(left ? 1 : 0), Int64(right ? 1 : 0))
    case (.integer(let left), .integer(let right)): TotalOrder.compare(left, right)
    case (.double(let left), .double(let right)), (.date(let left), .date(let right)):
      TotalOrder.compare(left, right)
    case (.text(let left), .text(let right)), (.document(let left), .document(let right)):
      TotalOrder.compare(left, right)
    case (.bytes(let left), .bytes(let right)):
      left.withUnsafeBytes { left in right.withUnsafeBytes { TotalOrder.compare(left, $0) } }
    case (.uuid(let left), .uuid(let right)): TotalOrder.compare(left, right)
    case (.decimal(let left), .decimal(let right)): TotalOrder.compare(left, right)
    default: TotalOrder.compare(Int64(left.tag.rawValue), Int64(right.tag.rawValue))
    }
  }
}

extension PersistentValue: CustomStringConvertible {
  /// The value as a predicate prints it: text in single quotes, bytes as `x'…'`, nil as `nil`.
  public var description: String {
    switch self {
    case .null: "nil"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .double(let value): "\(value)"
    case .text(let value): "'" + value.doubling("'") + "'"
    case .bytes(let value): "x'" + value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
    case .date(let value): "date(\(value))"
    case .uuid(let value): "uuid('\(value.uuidString)')"
    case .decimal(let value): "decimal('\(value.canonicalText)')"
    case .document(let value): "document(\(value))"
    }
  }
}

extension PersistentValue {
  /// The value as text for logs, which contains only the beginning and the size of long text and bytes.
  package var loggedDescription: String {
    let limit = 64
    switch self {
    case .text(let value) where value.utf8.count > limit * 4:
      return PersistentValue.text(String(value.prefix(limit))).description + "… (\(value.utf8.count) bytes)"
    case .document(let value) where value.utf8.count > limit * 4:
      return "document(\(value.prefix(limit))… (\(value.utf8.count) bytes))"
    case .bytes(let value) where value.count > limit:
      return PersistentValue.bytes(Array(value.prefix(limit))).description + "… (\(value.count) bytes)"
    default: return description
    }
  }
}
