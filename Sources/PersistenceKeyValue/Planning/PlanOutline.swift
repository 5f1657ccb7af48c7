import PersistenceDriver

/// A plan but for its values, of requests whose conditions all together decide one range of keys.
///
/// It takes the values of a request as they are. Planning splits the condition by field, and joins it again, which takes
/// longer than reading ten records.
final class PlanOutline: Sendable {
  /// The plan without its range and its condition.
  private let valueless: AccessPlan
  /// A condition, as its position in the predicate.
  private struct Condition {
    let position: Int
    let comparison: ComparisonOperator
  }

  /// A comparison of the predicate without its value.
  private struct Term {
    let field: StoredName
    let shape: UInt8
    let isNull: Bool

    /// Whether a condition differs in its value alone.
    func serves(_ node: PredicateNode) -> Bool {
      guard case .comparison(let name, let comparison, let value) = node else { return false }
      return comparison.shape == shape && value.isNull == isNull && StoredName(name) == field
    }
  }

  private let schema: ModelSchema
  private let totalOrder: [FieldOrder]
  private let needs: AccessNeeds
  private let terms: [Term]
  private let isConjunction: Bool

  /// The conditions that the first components are equal by.
  private let equals: [Condition]
  /// The conditions that bound the next component.
  private let lower: Condition?
  private let upper: Condition?

  /// The outline of a request's plan; nil if other values may need a plan that differs in more than values.
  init?(_ plan: AccessPlan, of request: FetchRequest, _ needs: AccessNeeds) {
    guard plan.ranges.count == 1, plan.residual == nil, plan.anchor == nil, plan.intersected.isEmpty,
      request.after == nil, let conditions = Self.comparisons(in: request.predicate)
    else { return nil }
    var equals: [Condition] = []
    var (lower, upper): (Condition?, Condition?) = (nil, nil)
    for component in plan.components {
      let name = StoredName(component)
      let own = conditions.indices.filter { conditions[$0].field == name }
      if own.count == 1, conditions[own[0]].comparison == .equal {
        equals.append(Condition(position: own[0], comparison: .equal))
        continue
      }
      // Of two bounds on one side, the values decide which one counts.
      for position in own {
        let condition = Condition(position: position, comparison: conditions[position].comparison)
        switch condition.comparison {
        case .greater, .greaterOrEqual:
          guard lower == nil else { return nil }
          lower = condition
        case .less, .lessOrEqual:
          guard upper == nil else { return nil }
          upper = condition
        case .equal, .notEqual: return nil
        }
      }
      break
    }
    let used = Set((equals + [lower, upper].compactMap { $0 }).map(\.position))
    guard used.count == conditions.count else { return nil }
    var valueless = plan
    valueless.ranges = []
    valueless.native = nil
    (self.valueless, self.equals, self.lower, self.upper) = (valueless, equals, lower, upper)
    (schema, totalOrder, self.needs) = (request.schema, request.totalOrder, needs)
    terms = conditions.map { Term(field: $0.field, shape: $0.comparison.shape, isNull: $0.isNull) }
    if case .all? = request.predicate { isConjunction = true } else { isConjunction = false }
    guard serves(request, needs), let next = next(of: request), self.plan(of: request, next) == plan else {
      return nil
    }
  }

  var path: AccessPlan.Path { valueless.path }
  var indexedComponents: Int { valueless.indexedComponents }
  var isReversed: Bool { valueless.isReversed }
  var isOrdered: Bool { valueless.isOrdered }
  /// How many components are equal to values of the request.
  var equalComponents: Int { equals.count }

  /// Whether a request has the shape of the outline's one, so that it differs in values alone.
  ///
  /// To compare the parts is faster than to make a shape, which looks up each field.
  func serves(_ request: FetchRequest, _ needs: AccessNeeds) -> Bool {
    guard request.schema.identity == schema.identity, request.after == nil, isSame(needs),
      request.totalOrder == totalOrder
    else { return false }
    guard let predicate = request.predicate else { return terms.isEmpty && !isConjunction }
    guard case .all(let nodes) = predicate else {
      return !isConjunction && terms.count == 1 && terms[0].serves(predicate)
    }
    guard isConjunction, nodes.count == terms.count else { return false }
    for position in nodes.indices {
      guard terms[position].serves(nodes[position]) else { return false }
    }
    return true
  }

  private func isSame(_ other: AccessNeeds) -> Bool {
    guard needs.isOrdered == other.isOrdered else { return false }
    guard let fields = needs.fields, let others = other.fields else {
      return needs.fields == nil && other.fields == nil
    }
    return fields.count == others.count && zip(fields, others).allSatisfy { StoredName($0) == StoredName($1) }
  }

  /// The plan of a request that the outline serves, with the bounds of its range.
  func plan(of request: FetchRequest, _ next: AccessPlan.Next) -> AccessPlan {
    var made = valueless
    let values = equals.compactMap { Self.bound($0, of: request)?.value }
    made.ranges = [AccessPlan.Range(equals: values, next: next)]
    made.native = request.predicate
    return made
  }

  /// Appends the values of the equal components to a key.
  ///
  /// - Throws: ``PersistenceError`` if the outline does not serve the request; a shorter key would find other rows.
  func appendEquals(of request: FetchRequest, to key: ByteBuffer) throws {
    for condition in equals {
      guard let bound = Self.bound(condition, of: request) else {
        throw PersistenceError(.engineFailure, "a request got the plan of another one; report this")
      }
      try KeyCodec.append(value: bound.value, to: key)
    }
  }

  /// The bounds behind the equal components of a request that the outline serves; nil if nothing lies between them.
  ///
  /// No residual condition is evaluated, so the rows are right only if conditions of one shape differ in values alone.
  func next(of request: FetchRequest) -> AccessPlan.Next? {
    guard lower != nil || upper != nil else { return .all }
    // A comparison never matches nil, which sorts first.
    var start = AccessPlan.Bound(.null, isInclusive: false)
    var end: AccessPlan.Bound?
    if let lower {
      guard let bound = Self.bound(lower, of: request) else { return nil }
      start = bound
    }
    if let upper {
      guard let bound = Self.bound(upper, of: request) else { return nil }
      let order = PersistentValue.compare(start.value, bound.value)
      guard order < 0 || (order == 0 && start.isInclusive && bound.isInclusive) else { return nil }
      end = bound
    }
    return .bounds(lower: start, upper: end)
  }

  /// The value of a condition, and whether the condition includes it; nil if the request compares otherwise.
  private static func bound(_ condition: Condition, of request: FetchRequest) -> AccessPlan.Bound? {
    guard let predicate = request.predicate else { return nil }
    var node = predicate
    if case .all(let nodes) = predicate {
      guard condition.position < nodes.count else { return nil }
      node = nodes[condition.position]
    }
    guard case .comparison(_, condition.comparison, let value) = node else { return nil }
    switch condition.comparison {
    case .lessOrEqual, .greaterOrEqual: return AccessPlan.Bound(value, isInclusive: true)
    default: return AccessPlan.Bound(value, isInclusive: false)
    }
  }

  /// A condition of a predicate, without its value.
  private typealias Comparison = (field: StoredName, comparison: ComparisonOperator, isNull: Bool)

  /// The conditions of a predicate that is a comparison, or a conjunction of comparisons; nil if it is another one.
  private static func comparisons(in predicate: PredicateNode?) -> [Comparison]? {
    guard let predicate else { return [] }
    var nodes = [predicate]
    if case .all(let conjuncts) = predicate { nodes = conjuncts }
    var found: [Comparison] = []
    for node in nodes {
      guard case .comparison(let field, let comparison, let value) = node else { return nil }
      found.append((StoredName(field), comparison, value.isNull))
    }
    return found
  }
}
