public import Foundation
import PersistencePrimitives

extension RowCell {
  /// A copy of the cell's value that outlives the row.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if a decimal's text is malformed.
  public func value() throws -> PersistentValue {
    switch tag {
    case .null: .null
    case .bool: .bool(boolValue)
    case .integer: .integer(integerValue)
    case .double: .double(doubleValue)
    case .text: .text(String(decoding: borrowedText, as: UTF8.self))
    case .bytes: .bytes([UInt8](borrowedText))
    case .date: .date(doubleValue)
    case .uuid: .uuid(uuidValue)
    case .decimal: .decimal(try decimalValue())
    case .document: .document(String(decoding: borrowedText, as: UTF8.self))
    }
  }

  /// The number of a ``Tag/decimal`` cell.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the text is malformed.
  public func decimalValue() throws -> Decimal {
    let text = String(decoding: borrowedText, as: UTF8.self)
    guard let decimal = Decimal(canonicalText: text) else {
      throw PersistenceError.damaged("the text of a decimal field is not a decimal number")
    }
    return decimal
  }

  /// Compares two cells of one kind: negative, zero or positive; nil sorts first (contract O3, V3 to V4a).
  public static func compare(_ left: RowCell, _ right: RowCell) -> Int {
    guard left.tag == right.tag else {
      return TotalOrder.compare(Int64(left.tag.rawValue), Int64(right.tag.rawValue))
    }
    switch left.tag {
    case .null: return 0
    case .bool, .integer: return TotalOrder.compare(left.integerValue, right.integerValue)
    case .double, .date: return TotalOrder.compare(left.doubleValue, right.doubleValue)
    case .text, .bytes, .document: return TotalOrder.compare(left.borrowedBytes, right.borrowedBytes)
    case .uuid:
      let first = TotalOrder.compareUnsigned(left.bits.bigEndian, right.bits.bigEndian)
      return first != 0 ? first : TotalOrder.compareUnsigned(left.extra.bigEndian, right.extra.bigEndian)
    case .decimal:
      let (first, second) = (try? left.decimalValue(), try? right.decimalValue())
      return TotalOrder.compare(first ?? .nan, second ?? .nan)
    }
  }
}

extension TotalOrder {
  /// Compares two unsigned integers: negative, zero or positive.
  @inlinable
  static func compareUnsigned(_ left: UInt64, _ right: UInt64) -> Int {
    left < right ? -1 : (left == right ? 0 : 1)
  }
}
