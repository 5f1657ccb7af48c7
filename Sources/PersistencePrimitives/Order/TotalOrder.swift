public import Foundation

/// The only definition of order and equality for every kind of value (contract V3 to V4a).
///
/// Predicates, sorting, index keys and digests use these functions on every context.
public enum TotalOrder {
  /// Compares two integers: negative, zero or positive.
  @inlinable
  public static func compare(_ left: Int64, _ right: Int64) -> Int {
    left < right ? -1 : (left == right ? 0 : 1)
  }

  /// Compares two doubles: −inf < finite < +inf < NaN, with NaN equal to NaN and −0.0 equal to 0.0.
  @inlinable
  public static func compare(_ left: Double, _ right: Double) -> Int {
    if left < right { return -1 }
    if left > right { return 1 }
    if left == right { return 0 }
    return compare(Int64(left.isNaN ? 1 : 0), Int64(right.isNaN ? 1 : 0))
  }

  /// Compares unsigned bytes; a prefix sorts before the longer one.
  @inlinable
  public static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    let shared = min(left.count, right.count)
    if shared > 0, let first = left.baseAddress, let second = right.baseAddress {
      let order = memcmp(first, second, shared)
      if order != 0 { return Int(order) }
    }
    return compare(Int64(left.count), Int64(right.count))
  }

  /// Compares two strings by their UTF-8 bytes.
  @inlinable
  public static func compare(_ left: String, _ right: String) -> Int {
    var left = left
    var right = right
    return left.withUTF8 { left in
      right.withUTF8 { compare(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer($0)) }
    }
  }

  /// Compares two UUIDs by their bytes.
  @inlinable
  public static func compare(_ left: UUID, _ right: UUID) -> Int {
    withUnsafeBytes(of: left.uuid) { left in withUnsafeBytes(of: right.uuid) { compare(left, $0) } }
  }

  /// Compares two decimals by numeric value, NaN greatest and equal to itself.
  public static func compare(_ left: Decimal, _ right: Decimal) -> Int {
    switch (left.isNaN, right.isNaN) {
    case (true, true): 0
    case (true, false): 1
    case (false, true): -1
    case (false, false): left < right ? -1 : (left == right ? 0 : 1)
    }
  }

  /// The stored form of a double: −0.0 becomes 0.0, and every NaN the quiet NaN (contract V4).
  @inlinable
  public static func normalized(_ number: Double) -> Double {
    if number.isNaN { return .nan }
    return number == 0 ? 0 : number
  }

  /// An unsigned integer that sorts as the contract sorts doubles.
  ///
  /// It flips all bits of a negative number, and the sign bit of any other, after normalising the number (as
  /// FoundationDB's tuple layer does, after IEEE 754's totalOrder).
  @inlinable
  public static func key(_ number: Double) -> UInt64 {
    let bits = normalized(number).bitPattern
    return bits >> 63 == 1 ? ~bits : bits ^ (1 << 63)
  }
}
