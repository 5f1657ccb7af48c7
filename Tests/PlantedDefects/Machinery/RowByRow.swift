import PersistenceCore
import PersistenceDriverSupport

/// Answers requests row by row, so that a defect can replace a single step.
struct RowByRow: Sendable {
  /// The result of a leaf of a predicate.
  enum Decision {
    /// The correct result.
    case right
    /// A fixed result.
    case truth(Bool)
    /// SQL's UNKNOWN, whose negation is UNKNOWN.
    case unknown
  }

  /// Evaluates a leaf for the values of a row by field.
  var leaf: (@Sendable (PredicateNode, (String) -> PersistentValue) throws -> Decision)?

  /// Compares two values by a criterion; the sign is that of the row order.
  var compare: (@Sendable (PersistentValue, PersistentValue, FieldOrder) -> Int)?

  /// The criteria of the sort.
  var order: (@Sendable (FetchRequest) -> [FieldOrder])?

  /// Returns the page of the sorted rows.
  var page: (@Sendable ([[PersistentValue]], FetchRequest) throws -> [[PersistentValue]])?

  func answer(_ request: FetchRequest, _ reader: any StorageReader) throws -> any StorageResults {
    let schema = request.schema
    let order = order?(request) ?? request.totalOrder
    let positions = order.compactMap { schema.position(of: $0.field) }
    func compare(_ left: [PersistentValue], _ right: [PersistentValue]) -> Int {
      for (index, criterion) in order.enumerated() {
        let result =
          self.compare?(left[index], right[index], criterion)
          ?? Self.compare(left[index], right[index], criterion)
        if result != 0 { return result }
      }
      return 0
    }
    var rows = try reader.rows(FetchRequest(schema))
    if let predicate = request.predicate {
      let decide = try compile(predicate, schema)
      rows = try rows.filter { try decide($0) ?? false }
    }
    rows = rows.map { row in (key: positions.map { row[$0] }, row: row) }
      .sorted { compare($0.key, $1.key) < 0 }.map(\.row)
    if let after = request.after {
      let anchor = order.map { criterion in
        request.totalOrder.firstIndex { $0.field == criterion.field }.map { after.values[$0] } ?? .null
      }
      rows = rows.filter { row in compare(positions.map { row[$0] }, anchor) > 0 }
    }
    return RowList(
      try page?(rows, request)
        ?? Array(rows.dropFirst(request.offset).prefix(request.limit ?? .max)))
  }

  /// Follows contract O3.
  static func compare(_ left: PersistentValue, _ right: PersistentValue, _ criterion: FieldOrder) -> Int {
    let order = PersistentValue.compare(left, right)
    return criterion.isDescending ? -order : order
  }

  private typealias Test = ([PersistentValue]) throws -> Bool?

  private func compile(_ node: PredicateNode, _ schema: ModelSchema) throws -> Test {
    switch node {
    case .all(let nodes):
      let tests = try nodes.map { try compile($0, schema) }
      return { row in
        var isUnknown = false
        for test in tests {
          guard let truth = try test(row) else {
            isUnknown = true
            continue
          }
          if !truth { return false }
        }
        return isUnknown ? nil : true
      }
    case .any(let nodes): return try compile(.not(.all(nodes.map { .not($0) })), schema)
    case .not(let node):
      let test = try compile(node, schema)
      return { row in try test(row).map { !$0 } }
    default:
      let right = try CompiledPredicate(node, in: schema)
      return { row in
        let decision = try leaf?(node) { field in schema.position(of: field).map { row[$0] } ?? .null }
        return switch decision {
        case .truth(let truth): truth
        case .unknown: nil
        case .right, nil: try row.withRow { try right.matches($0) }
        }
      }
    }
  }
}
