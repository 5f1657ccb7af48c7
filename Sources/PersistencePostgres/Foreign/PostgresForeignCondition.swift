import PersistenceDriver

/// Conditions on another program's table, in the values that its columns store.
///
/// Columns store fewer dates than doubles there are, so that a condition on a date becomes one on the moments around it.
struct PostgresForeignCondition {
  private let schema: ModelSchema
  private let columns: [PostgresForeignColumn]

  /// How many dates of a list the server compares.
  private static let listLimit = 100

  init(_ schema: ModelSchema, _ columns: [PostgresForeignColumn]) {
    self.schema = schema
    self.columns = columns
  }

  /// The condition for the server; nil if only the client evaluates it exactly.
  func condition(_ node: PredicateNode) -> PredicateNode? {
    switch node {
    case .constant,
      .fieldComparison where !comparesMoments(node):
      return node
    case .all(let nodes): return conditions(nodes).map { .all($0) }
    case .any(let nodes): return conditions(nodes).map { .any($0) }
    case .not(let inner): return condition(inner).map { .not($0) }
    case .comparison(let field, let comparison, .date(let date)):
      return self.comparison(field, comparison, date)
    case .comparison(_, _, let value): return hasNull(value) ? nil : node
    case .isBetween(let field, .date(let lower), .date(let upper)):
      guard let lower = bounds(field, lower), let upper = bounds(field, upper) else { return nil }
      return .isBetween(field: field, lower: Self.date(lower.first), upper: Self.date(upper.last))
    case .isBetween(_, let lower, let upper): return hasNull(lower) || hasNull(upper) ? nil : node
    case .isIn(let field, let values): return membership(node, field, values)
    case .text(_, _, let needle, _): return needle.utf8.contains(0) ? nil : node
    case .fieldComparison, .document, .related: return nil
    }
  }

  private func conditions(_ nodes: [PredicateNode]) -> [PredicateNode]? {
    var conditions: [PredicateNode] = []
    for node in nodes {
      guard let condition = condition(node) else { return nil }
      conditions.append(condition)
    }
    return conditions
  }

  /// Whether a condition compares two columns of moments, which the server would do by the time zone of its session if
  /// their types differ.
  private func comparesMoments(_ node: PredicateNode) -> Bool {
    guard case .fieldComparison(let left, _, _) = node else { return false }
    return schema.field(named: left)?.kind == .date
  }

  private func hasNull(_ value: PersistentValue) -> Bool {
    if case .text(let text) = value { text.utf8.contains(0) } else { false }
  }

  private func bounds(_ field: String, _ date: Double) -> PostgresMomentBounds? {
    guard let position = schema.position(of: field), let step = columns[position].step else { return nil }
    return PostgresMomentBounds(around: date, step: step)
  }

  private static func date(_ moment: Int64) -> PersistentValue { .date(PostgresMoment.seconds(moment)) }

  private func comparison(_ field: String, _ comparison: ComparisonOperator, _ date: Double) -> PredicateNode?
  {
    guard let bounds = bounds(field, date) else { return nil }
    let isStored = bounds.first == bounds.last
    switch comparison {
    case .equal where !isStored: return .constant(false)
    case .notEqual where !isStored: return .constant(true)
    case .less, .greaterOrEqual, .equal, .notEqual:
      return .comparison(field: field, comparison, Self.date(bounds.first))
    case .lessOrEqual, .greater: return .comparison(field: field, comparison, Self.date(bounds.last))
    }
  }

  /// A list of dates becomes a disjunction, whose operands have conversions of their own.
  private func membership(_ node: PredicateNode, _ field: String, _ values: [PersistentValue])
    -> PredicateNode?
  {
    guard schema.field(named: field)?.kind == .date else {
      return values.contains(where: hasNull) ? nil : node
    }
    guard values.count <= Self.listLimit else { return nil }
    return conditions(values.map { .comparison(field: field, .equal, $0) }).map { .any($0) }
  }
}
