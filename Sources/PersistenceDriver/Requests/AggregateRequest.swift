import PersistencePrimitives

/// What a driver is asked to compute over the rows of a request, for all of them or group by group.
///
/// It is checked when it is made, as ``FetchRequest`` is.
public struct AggregateRequest: Sendable, Hashable {
  /// The rows; their order, limit, offset and anchor decide which rows count, not the order of groups.
  public let rows: FetchRequest

  /// The fields whose equal values make a group; where there are none, all rows are one group.
  public let grouping: [String]

  /// What is computed for each group.
  public let aggregates: [Aggregate]

  /// Makes a request and checks it.
  ///
  /// - Parameters:
  ///   - rows: The rows.
  ///   - grouping: The fields whose equal values make a group.
  ///   - aggregates: What is computed for each group; none gives the groups alone, that is, the distinct values.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField`` where a field does not exist,
  ///   and ``PersistenceError/Code/invalidRequest`` where a document is grouped by or compared, or a sum is asked of
  ///   what is no number.
  public init(_ rows: FetchRequest, grouping: [String] = [], aggregates: [Aggregate]) throws {
    let schema = rows.schema
    func field(_ name: String) throws -> FieldSchema {
      guard let field = schema.field(named: name) else {
        throw PersistenceError.unknownField(name, in: schema)
      }
      return field
    }
    for name in grouping where try !field(name).kind.isOrdered {
      throw PersistenceError.invalidRequest("\(schema.name) cannot be grouped by the document “\(name)”")
    }
    for aggregate in aggregates {
      guard let name = aggregate.field else { continue }
      let kind = try field(name).kind
      switch aggregate {
      case .count: break
      case .minimum, .maximum:
        guard kind.isOrdered else {
          throw PersistenceError.invalidRequest(
            "“\(name)” of \(schema.name) is a document, which has no order")
        }
      case .sum, .average:
        guard kind.isNumber else {
          throw PersistenceError.invalidRequest(
            "“\(name)” of \(schema.name) is \(kind.rawValue), which cannot be added up")
        }
      }
    }
    self.rows = rows
    self.grouping = grouping
    self.aggregates = aggregates
  }
}

extension AggregateRequest {
  /// Whether two requests ask for the same of the same rows; names are the same byte for byte.
  public static func == (left: AggregateRequest, right: AggregateRequest) -> Bool {
    left.rows == right.rows && left.aggregates == right.aggregates
      && left.grouping.map(StoredName.init) == right.grouping.map(StoredName.init)
  }

  /// Feeds the request into a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(rows)
    hasher.combine(aggregates)
    for name in grouping { hasher.combine(StoredName(name)) }
  }
}

extension AggregateRequest: CustomStringConvertible {
  /// The request as text, with its values: for people and debug logs.
  public var description: String { text(rows.description) }

  /// The request as text without any value: what may be logged at any level.
  public var shape: String { text(rows.shape) }

  private func text(_ rows: String) -> String {
    let what = aggregates.map(\.description).joined(separator: ", ")
    let groups = grouping.isEmpty ? "" : " by " + grouping.joined(separator: ", ")
    return (what.isEmpty ? "distinct" : what) + groups + " of " + rows
  }
}

extension FieldKind {
  /// Whether values of this kind can be added up.
  public var isNumber: Bool { isInteger || self == .float || self == .double || self == .decimal }
}
