public import Foundation
public import PersistenceDriver

/// A property type whose values can be summed.
///
/// A raw-representable struct over a number only has to declare its conformance.
public protocol PersistentNumber: PersistentValueConvertible {
  /// The type of a sum: `Int` for integers, `Double` for floating-point numbers, `Decimal` for decimals.
  associatedtype Sum: PersistentValueConvertible
  /// The type of an average: `Double`, or `Decimal` for decimals.
  associatedtype Average: PersistentValueConvertible
}

extension PersistentNumber where Self: PersistentInteger {
  /// A 64-bit integer.
  public typealias Sum = Int
  /// A double.
  public typealias Average = Double
}

extension PersistentNumber where Self: BinaryFloatingPoint {
  /// A double.
  public typealias Sum = Double
  /// A double.
  public typealias Average = Double
}

extension Int: PersistentNumber {}
extension Int8: PersistentNumber {}
extension Int16: PersistentNumber {}
extension Int32: PersistentNumber {}
extension Int64: PersistentNumber {}
extension UInt8: PersistentNumber {}
extension UInt16: PersistentNumber {}
extension UInt32: PersistentNumber {}
extension Float: PersistentNumber {}
extension Double: PersistentNumber {}

extension Decimal: PersistentNumber {
  /// A decimal.
  public typealias Sum = Decimal
  /// A decimal.
  public typealias Average = Decimal
}

extension Optional: PersistentNumber where Wrapped: PersistentNumber {
  /// The type of a sum of the wrapped values, which skips nil.
  public typealias Sum = Wrapped.Sum
  /// The type of an average of the wrapped values, which skips nil.
  public typealias Average = Wrapped.Average
}

extension PersistentNumber where Self: RawRepresentable, RawValue: PersistentNumber {
  /// The type of a sum of the raw values.
  public typealias Sum = RawValue.Sum
  /// The type of an average of the raw values.
  public typealias Average = RawValue.Average
}
