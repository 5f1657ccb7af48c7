public import Foundation
public import PersistenceDriver

/// A type of property whose values can be added up.
///
/// A raw-representable struct over a number conforms by saying so.
public protocol PersistentNumber: PersistentValueConvertible {
  /// What a sum of values is: `Int` for every integer, `Double` for floating-point numbers, `Decimal`.
  associatedtype Sum: PersistentValueConvertible
  /// What an average of values is: `Double`, or `Decimal` for decimals.
  associatedtype Average: PersistentValueConvertible
}

extension Int: PersistentNumber {
  /// A whole number of 64 bits.
  public typealias Sum = Int
  /// A double.
  public typealias Average = Double
}

extension Int8: PersistentNumber {
  /// A whole number of 64 bits.
  public typealias Sum = Int
  /// A double.
  public typealias Average = Double
}

extension Int16: PersistentNumber {
  /// A whole number of 64 bits.
  public typealias Sum = Int
  /// A double.
  public typealias Average = Double
}

extension Int32: PersistentNumber {
  /// A whole number of 64 bits.
  public typealias Sum = Int
  /// A double.
  public typealias Average = Double
}

extension Int64: PersistentNumber {
  /// A whole number of 64 bits.
  public typealias Sum = Int
  /// A double.
  public typealias Average = Double
}

extension UInt8: PersistentNumber {
  /// A whole number of 64 bits.
  public typealias Sum = Int
  /// A double.
  public typealias Average = Double
}

extension UInt16: PersistentNumber {
  /// A whole number of 64 bits.
  public typealias Sum = Int
  /// A double.
  public typealias Average = Double
}

extension UInt32: PersistentNumber {
  /// A whole number of 64 bits.
  public typealias Sum = Int
  /// A double.
  public typealias Average = Double
}

extension Float: PersistentNumber {
  /// A double.
  public typealias Sum = Double
  /// A double.
  public typealias Average = Double
}

extension Double: PersistentNumber {
  /// A double.
  public typealias Sum = Double
  /// A double.
  public typealias Average = Double
}

extension Decimal: PersistentNumber {
  /// A decimal.
  public typealias Sum = Decimal
  /// A decimal.
  public typealias Average = Decimal
}

extension Optional: PersistentNumber where Wrapped: PersistentNumber {
  /// What a sum of the wrapped values is; nil is passed over.
  public typealias Sum = Wrapped.Sum
  /// What an average of the wrapped values is; nil is passed over.
  public typealias Average = Wrapped.Average
}

extension PersistentNumber where Self: RawRepresentable, RawValue: PersistentNumber {
  /// What a sum of the raw values is.
  public typealias Sum = RawValue.Sum
  /// What an average of the raw values is.
  public typealias Average = RawValue.Average
}
