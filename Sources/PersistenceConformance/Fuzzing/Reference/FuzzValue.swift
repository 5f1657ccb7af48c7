import Foundation
import PersistenceCore

/// Equality and order of values by rules V3 to V4a and O3, independent of the evaluator.
enum FuzzValue {
  /// Returns whether two values are identical to the bit; all NaNs are.
  static func isSame(_ left: PersistentValue, _ right: PersistentValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.double(let left), .double(let right)), (.date(let left), .date(let right)):
      left.bitPattern == right.bitPattern || (left.isNaN && right.isNaN)
    case (.text(let left), .text(let right)), (.document(let left), .document(let right)):
      order(left, right) == 0
    case (.bytes(let left), .bytes(let right)): left == right
    case (.uuid(let left), .uuid(let right)): left == right
    case (.decimal(let left), .decimal(let right)): Decimal.oracle(left, right) == 0
    default: false
    }
  }

  /// Returns whether two rows are identical to the bit.
  ///
  /// The suite is not optimized in tests, where a loop takes half of the time of generic sequences.
  static func isSame(_ left: [PersistentValue], _ right: [PersistentValue]) -> Bool {
    guard left.count == right.count else { return false }
    var place = 0
    while place < left.count {
      if !isSame(left[place], right[place]) { return false }
      place += 1
    }
    return true
  }

  /// Returns whether the rows of two lists are identical to the bit.
  static func isSame(_ left: [[PersistentValue]], _ right: [[PersistentValue]]) -> Bool {
    left.count == right.count && zip(left, right).allSatisfy { isSame($0, $1) }
  }

  /// Returns a negative number, zero or a positive number if the left sorts before, with or after the right.
  static func order(_ left: PersistentValue, _ right: PersistentValue) -> Int {
    switch (left, right) {
    case (.null, .null): 0
    case (.null, _): -1
    case (_, .null): 1
    case (.bool(let left), .bool(let right)): Bool.oracle(left, right)
    case (.integer(let left), .integer(let right)): Int64.oracle(left, right)
    case (.double(let left), .double(let right)), (.date(let left), .date(let right)):
      Double.oracle(left, right)
    case (.text(let left), .text(let right)), (.document(let left), .document(let right)):
      order(left, right)
    case (.bytes(let left), .bytes(let right)):
      left.withUnsafeBytes { left in right.withUnsafeBytes { order(left, $0) } }
    case (.uuid(let left), .uuid(let right)):
      withUnsafeBytes(of: left.uuid) { left in withUnsafeBytes(of: right.uuid) { order(left, $0) } }
    case (.decimal(let left), .decimal(let right)): Decimal.oracle(left, right)
    default: 0
    }
  }

  /// Returns whether two names have the same bytes.
  static func isSameName(_ left: String, _ right: String) -> Bool { order(left, right) == 0 }

  /// The value as it is stored: 0.0 for −0.0.
  static func stored(_ value: PersistentValue) -> PersistentValue {
    switch value {
    case .double(let number) where number == 0: .double(0)
    case .date(let seconds) where seconds == 0: .date(0)
    default: value
    }
  }

  /// Returns the order of two texts by their bytes.
  static func order(_ left: String, _ right: String) -> Int {
    var (left, right) = (left, right)
    return left.withUTF8 { left in
      right.withUTF8 { order(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer($0)) }
    }
  }

  /// Compares by `memcmp`: the suite is not optimized in tests, where generic sequences would take a third of its time.
  private static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    let count = min(left.count, right.count)
    if count > 0, let left = left.baseAddress, let right = right.baseAddress {
      let order = memcmp(left, right, count)
      if order != 0 { return Int(order) }
    }
    return left.count - right.count
  }
}
