import PersistencePrimitives

/// A value computed over rows: how many there are, or what a field comes to.
///
/// Nil is passed over by everything but the count. Least and greatest are by the contract's order, so NaN is the
/// greatest number (V4). Sums are exact and rounded once, so that they do not depend on the order in which an
/// engine meets its rows: an integer's is a 64-bit integer, a floating-point number's a double, a decimal's a
/// decimal of 38 digits, as its average is, which is the exact sum's. A sum or average over a NaN is NaN.
public enum Aggregate: Sendable, Hashable, Codable {
  /// How many rows there are.
  case count
  /// The least value of a field; nil where there is none.
  case minimum(of: String)
  /// The greatest value of a field; nil where there is none.
  case maximum(of: String)
  /// The sum of a number; zero where there is none.
  case sum(of: String)
  /// The sum of a number divided by how many values there are, as a double, or as a decimal for a decimal; nil
  /// where there is none.
  case average(of: String)

  /// The field that is looked at; nil for the count.
  public var field: String? {
    switch self {
    case .count: nil
    case .minimum(let field), .maximum(let field), .sum(let field), .average(let field): field
    }
  }
}

extension Aggregate {
  /// Whether two are the same computation over the same field, byte for byte.
  public static func == (left: Aggregate, right: Aggregate) -> Bool {
    left.number == right.number && left.field.map(StoredName.init) == right.field.map(StoredName.init)
  }

  /// Feeds computation and field into a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(number)
    hasher.combine(field.map(StoredName.init))
  }

  /// What tells the computations apart.
  private var number: Int {
    switch self {
    case .count: 0
    case .minimum: 1
    case .maximum: 2
    case .sum: 3
    case .average: 4
    }
  }
}

extension Aggregate: CustomStringConvertible {
  /// The aggregate in words, such as `sum(budget)`.
  public var description: String {
    switch self {
    case .count: "count"
    case .minimum(let field): "min(\(field))"
    case .maximum(let field): "max(\(field))"
    case .sum(let field): "sum(\(field))"
    case .average(let field): "average(\(field))"
    }
  }
}
