import PersistenceDriver
import PersistenceDriverSupport

/// The plans of requests whose shape alone decides on a path, for one set of indexes.
///
/// Comparing all paths takes a third of a small query. Estimates depend on values, so their choices are not kept.
package final class KnownPlans: Sendable {
  private static let limit = 256

  private struct State {
    var plans: [RequestShape: KnownPlan] = [:]
    /// The outline that served last: most requests have the shape of the one before.
    var latest: PlanOutline?
  }

  private let state = Lock(State())

  package init() {}

  /// The number of known shapes.
  package var count: Int { state.withLock { $0.plans.count } }

  /// The plan of a request of the shape that was asked for last.
  func latest(for request: FetchRequest, _ needs: AccessNeeds) -> ChosenPlan? {
    let latest: PlanOutline? = state.withLock { $0.latest }
    guard let latest, latest.serves(request, needs), let next = latest.next(of: request) else { return nil }
    return .known(latest, next)
  }

  /// What is known of the plans of a shape; nil if nothing is.
  func plan(for shape: RequestShape) -> KnownPlan? {
    state.withLock { state in
      let known = state.plans[shape]
      if let outline = known?.outline { state.latest = outline }
      return known
    }
  }

  /// Keeps what the plans of a shape have in common.
  func keep(_ plan: KnownPlan, for shape: RequestShape) {
    state.withLock { state in
      if state.plans.count >= Self.limit { state.plans.removeAll() }
      state.plans[shape] = plan
    }
  }
}

/// What the plans of requests of one shape have in common.
struct KnownPlan: Sendable {
  let path: AccessPlan.Path
  /// The plan but for its values; nil if the values decide on more than the ends of a range.
  let outline: PlanOutline?
}

/// The plan that was chosen for a request.
enum ChosenPlan: Sendable {
  case made(AccessPlan, isReused: Bool)
  /// A known plan with the bounds of this request; to make it whole takes as long as to plan, and few callers need it.
  case known(PlanOutline, AccessPlan.Next)

  /// Whether the path is known from an earlier request of the same shape.
  var isReused: Bool {
    switch self {
    case .made(_, let isReused): isReused
    case .known: true
    }
  }

  /// The whole plan of the request.
  func plan(of request: FetchRequest) -> AccessPlan {
    switch self {
    case .made(let plan, _): plan
    case .known(let outline, let next): outline.plan(of: request, next)
    }
  }
}

extension AccessPlanner {
  /// The best plan, and whether its path is known from an earlier request of the same shape.
  package func best(_ statistics: some PlanStatistics, knowing known: KnownPlans) throws -> (
    plan: AccessPlan, isReused: Bool
  ) {
    let chosen = try Self.best(request, indexes: indexes, needs: needs, statistics, knowing: known)
    return (chosen.plan(of: request), chosen.isReused)
  }

  /// The best plan, without a planner, which takes the condition apart, where the outline of the plan is known.
  static func best(
    _ request: FetchRequest, indexes: [IndexSchema], needs: AccessNeeds, _ statistics: some PlanStatistics,
    knowing known: KnownPlans
  ) throws -> ChosenPlan {
    if let latest = known.latest(for: request, needs) { return latest }
    let shape = RequestShape(request, needs)
    let earlier = shape.flatMap { known.plan(for: $0) }
    if let outline = earlier?.outline, outline.serves(request, needs), let next = outline.next(of: request) {
      return .known(outline, next)
    }
    let planner = AccessPlanner(request, indexes: indexes, needs: needs)
    if let earlier { return .made(planner.uncompared(earlier.path).plan, isReused: true) }
    let candidates = planner.useful()
    guard let plan = planner.obvious(candidates)?.plan else {
      return .made(try planner.estimated(candidates, statistics), isReused: false)
    }
    // Without ranges, the values decided.
    if let shape, !plan.ranges.isEmpty {
      let path: AccessPlan.Path = plan.path == .primaryKey ? .scan : plan.path
      known.keep(KnownPlan(path: path, outline: PlanOutline(plan, of: request, needs)), for: shape)
    }
    return .made(plan, isReused: false)
  }
}

/// What a request has in common with others that differ in values only.
///
/// ``PlanOutline`` relies on it for conjunctions of comparisons. Other conditions may share a shape where they share paths.
struct RequestShape: Hashable {
  private static let lengthLimit = 64

  private var words: [UInt32] = []

  /// The shape of a request; nil if it is long, or if its values may decide on a path.
  init?(_ request: FetchRequest, _ needs: AccessNeeds) {
    guard request.after == nil else { return nil }
    let schema = request.schema
    words.reserveCapacity(8)
    words.append(needs.isOrdered ? 1 : 0)
    words.append(needs.fields.map { UInt32($0.count) } ?? .max)
    for field in needs.fields ?? [] { guard add(field, 0, schema) else { return nil } }
    for criterion in request.totalOrder {
      guard add(criterion.field, criterion.isDescending ? 1 : 0, schema) else { return nil }
    }
    if let predicate = request.predicate { guard add(predicate, schema) else { return nil } }
  }

  /// Adds a field with what the request does with it; returns false if the shape is too long.
  private mutating func add(_ field: String, _ use: UInt32, _ schema: ModelSchema) -> Bool {
    guard let position = schema.position(of: field), words.count < Self.lengthLimit else { return false }
    words.append(UInt32(position) << 8 | use)
    return true
  }

  private mutating func add(_ node: PredicateNode, _ schema: ModelSchema) -> Bool {
    switch node {
    case .constant(let truth):
      words.append(truth ? 2 : 3)
      return true
    case .comparison(let field, let comparison, let value):
      return add(field, 0x10 | UInt32(comparison.shape) << 1 | (value.isNull ? 1 : 0), schema)
    case .fieldComparison(let left, _, let right): return add(left, 0x20, schema) && add(right, 0x21, schema)
    case .isIn(let field, let values):
      // Long lists may exceed the number of ranges of a plan.
      guard values.count <= 64 else { return false }
      return add(field, 0x30 | UInt32(min(values.count, 2)), schema)
    case .isBetween(let field, let lower, let upper):
      return add(field, 0x40 | (lower.isNull || upper.isNull ? 1 : 0), schema)
    case .text(let field, let search, _, let isCaseInsensitive):
      return add(field, search == .hasPrefix && !isCaseInsensitive ? 0x50 : 0x51, schema)
    case .document(let field, _, _): return add(field, 0x60, schema)
    case .related: return false
    case .all(let nodes): return add(nodes, 4, schema)
    case .any(let nodes): return add(nodes, 5, schema)
    case .not(let node): return add([node], 6, schema)
    }
  }

  private mutating func add(_ nodes: [PredicateNode], _ group: UInt32, _ schema: ModelSchema) -> Bool {
    words.append(UInt32(clamping: nodes.count) << 8 | group)
    return nodes.allSatisfy { add($0, schema) }
  }
}

extension ComparisonOperator {
  /// The operator in a shape.
  var shape: UInt8 {
    switch self {
    case .equal: 0
    case .notEqual: 1
    case .less: 2
    case .lessOrEqual: 3
    case .greater: 4
    case .greaterOrEqual: 5
    }
  }
}
