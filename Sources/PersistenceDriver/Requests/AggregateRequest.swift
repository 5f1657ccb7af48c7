import PersistencePrimitives

/// A request to aggregate rows, as a whole or by group.
///
/// It is validated when it is created, like ``FetchRequest``.
public struct AggregateRequest: Sendable, Hashable {
  /// The rows.
  ///
  /// Their order, limit, offset and anchor select rows; they do not order the groups.
  public let rows: FetchRequest

  /// The fields to group by; if empty, all rows are one group.
  public let grouping: [String]

  /// The aggregates of each group.
  public let aggregates: [Aggregate]

  /// Creates and validates a request.
  ///
  /// - Parameters:
  ///   - rows: The rows.
  ///   - grouping: The fields to group by.
  ///   - aggregates: The aggregates of each group; if empty, the groups are the distinct values.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField`` if a field does not exist,
  ///   and ``PersistenceError/Code/invalidRequest`` if it groups by or compares a document, or sums a field that is not
  ///   a number.
  public init(_ rows: FetchRequest, grouping: [String] = [], aggregates: [Aggregate]) throws {
    let schema = rows.schema
    for name in grouping where try !schema.requiredField(named: name).kind.isOrdered {
      throw PersistenceError.invalidRequest(
        "\(schema.name) cannot be grouped by “\(name)”, which is a document; group by another field")
    }
    for aggregate in aggregates {
      guard let name = aggregate.field else { continue }
      let kind = try schema.requiredField(named: name).kind
      switch aggregate {
      case .count: break
      case .minimum, .maximum:
        guard kind.isOrdered else {
          throw PersistenceError.invalidRequest(
            "“\(name)” of \(schema.name) is a document and has no order; compare another field")
        }
      case .sum, .average:
        guard kind.isNumber else {
          throw PersistenceError.invalidRequest(
            "“\(name)” of \(schema.name) has the kind \(kind.rawValue) and cannot be added; sum a number")
        }
      }
    }
    self.rows = rows
    self.grouping = grouping
    self.aggregates = aggregates
  }
}

extension AggregateRequest {
  /// Whether two requests have the same rows, groups and aggregates; names are compared by their bytes.
  public static func == (left: AggregateRequest, right: AggregateRequest) -> Bool {
    left.rows == right.rows && left.aggregates == right.aggregates
      && left.grouping.map(StoredName.init) == right.grouping.map(StoredName.init)
  }

  /// Hashes the request.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(rows)
    hasher.combine(aggregates)
    for name in grouping { hasher.combine(StoredName(name)) }
  }
}

extension AggregateRequest: CustomStringConvertible {
  /// The request as text with its values, for debug logs.
  public var description: String { text(rows.description) }

  /// The request as text without values, for logs at any level.
  public var shape: String { text(rows.shape) }

  private func text(_ rows: String) -> String {
    let what = aggregates.map(\.description).joined(separator: ", ")
    let groups = grouping.isEmpty ? "" : " by " + grouping.joined(separator: ", ")
    return (what.isEmpty ? "distinct" : what) + groups + " of " + rows
  }
}

extension FieldKind {
  /// Whether values of this kind can be added.
  public var isNumber: Bool { isInteger || self == .float || self == .double || self == .decimal }
}

/// A value computed over rows: their count, or an aggregate of a field.
///
/// All aggregates except the count ignore nil. The minimum and maximum use the contract's order, in which NaN is the
/// greatest number (V4). Sums are exact and rounded once, so they do not depend on the order of rows. The sum of
/// integers is a 64-bit integer, of floating-point numbers a double, of decimals a decimal with 38 digits. An average
/// divides the exact sum. A sum or average over a NaN is NaN.
public enum Aggregate: Sendable, Hashable, Codable {
  /// The number of rows.
  case count
  /// The least value of a field; nil if it has no values.
  case minimum(of: String)
  /// The greatest value of a field; nil if it has no values.
  case maximum(of: String)
  /// The sum of a numeric field; zero if it has no values.
  case sum(of: String)
  /// The average of a numeric field: a decimal for decimals, otherwise a double; nil if it has no values.
  case average(of: String)

  /// The aggregated field; nil for the count.
  public var field: String? {
    switch self {
    case .count: nil
    case .minimum(let field), .maximum(let field), .sum(let field), .average(let field): field
    }
  }
}

extension Aggregate {
  /// Whether two aggregates compute the same over the same field; names are compared by their bytes.
  public static func == (left: Aggregate, right: Aggregate) -> Bool {
    left.number == right.number && left.field.map(StoredName.init) == right.field.map(StoredName.init)
  }

  /// Hashes the computation and the field.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(number)
    hasher.combine(field.map(StoredName.init))
  }

  /// A number for each computation.
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
  /// The aggregate as text, such as `sum(budget)`.
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

/// One group of the answer to an ``AggregateRequest``.
public struct AggregateGroup: Sendable, Hashable {
  /// The values of the grouping fields.
  public let key: [PersistentValue]

  /// One value for each aggregate of the request.
  public let values: [PersistentValue]

  /// Creates a group.
  public init(key: [PersistentValue], values: [PersistentValue]) {
    self.key = key
    self.values = values
  }
}
