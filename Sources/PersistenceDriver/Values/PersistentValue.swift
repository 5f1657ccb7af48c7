public import Foundation
import PersistencePrimitives

/// One stored value, of any kind that every context can hold (contract V1).
///
/// It is what a driver, a predicate and the command line speak; typed properties are converted to and from it
/// by ``PersistentValueConvertible``. Equality and order are those of the contract: text by UTF-8 bytes, NaN
/// equal to NaN and greatest, −0.0 equal to 0.0, decimals by numeric value.
public enum PersistentValue: Sendable {
  /// No value.
  case null
  /// A truth value.
  case bool(Bool)
  /// An integer of any width up to 64 bits.
  case integer(Int64)
  /// A floating-point number; a `Float` is held as the `Double` of equal value.
  case double(Double)
  /// Text, scalar for scalar.
  case text(String)
  /// Bytes.
  case bytes([UInt8])
  /// A moment, in seconds since 2001-01-01 00:00:00 UTC.
  case date(Double)
  /// A UUID.
  case uuid(UUID)
  /// A decimal number.
  case decimal(Decimal)
  /// A nested value as canonical JSON text: members sorted by the UTF-8 bytes of their names, no white space.
  case document(String)
}

extension PersistentValue {
  /// Whether this is nil.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The tag of the cell that holds this value.
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

  /// The value with the two doubles that the contract folds put right: −0.0 becomes 0.0, any NaN the one NaN.
  public var normalized: PersistentValue {
    switch self {
    case .double(let number): .double(TotalOrder.normalized(number))
    case .date(let seconds): .date(TotalOrder.normalized(seconds))
    default: self
    }
  }
}

extension PersistentValue: Hashable {
  /// Whether two values are equal by contract V3 to V4a; values of different kinds never are.
  public static func == (left: PersistentValue, right: PersistentValue) -> Bool {
    left.tag == right.tag && compare(left, right) == 0
  }

  /// Feeds the value into a hasher, so that equal values have equal hashes.
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
