package import PersistenceDriver

/// Chooses how the rows of a request are found: a pure function of the request, the indexes and estimates.
///
/// Every plan gives the same rows in the same order; the choice is one of speed and memory alone. Issue 4's
/// planner grows from here: more candidates, better estimates.
package struct AccessPlanner {
  /// How many entries an unordered index path may have before a path in order, which holds nothing in memory, is
  /// preferred to it.
  static let sortedEntriesLimit = 4096

  /// How many ranges one plan may have.
  static let rangeLimit = 16_384

  private let request: FetchRequest
  private let indexes: [IndexSchema]
  private let conjunction: Conjunction

  /// Prepares planning.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - indexes: The indexes that the store keeps, whose positions plans will name.
  package init(_ request: FetchRequest, indexes: [IndexSchema]) {
    self.request = request
    self.indexes = indexes
    conjunction = Conjunction(request.predicate)
  }

  /// The best plan.
  ///
  /// - Parameters:
  ///   - total: How many records there are; asked for at most once.
  ///   - estimate: How many entries a plan's ranges hold, counted up to the limit given.
  /// - Returns: The plan.
  /// - Throws: What the closures throw.
  package func best(
    total: () throws -> Int, estimate: (AccessPlan, Int) throws -> Int
  ) rethrows -> AccessPlan {
    var best = candidate(.scan)
    if indexes.isEmpty && best.plan.isOrdered { return best.plan }
    var ordered: Candidate? = best.plan.isOrdered ? best : nil
    for number in indexes.indices {
      let other = candidate(.index(number))
      if other.score > best.score { best = other }
      if other.plan.isOrdered, other.score > ordered?.score ?? -1 { ordered = other }
    }
    if best.plan.isOrdered || best.isPoint || best.plan.path == .scan { return best.plan }
    if let ordered {
      let entries = try estimate(best.plan, Self.sortedEntriesLimit)
      return entries < Self.sortedEntriesLimit ? best.plan : ordered.plan
    }
    // Everything is sorted in any case: an index pays while it leaves most records unread.
    let limit = max(Self.sortedEntriesLimit, try total() / 8)
    return try estimate(best.plan, limit) < limit ? best.plan : candidate(.scan).plan
  }

  /// Every plan that can answer the request, so that tests can compare what they give.
  package func all() -> [AccessPlan] {
    [candidate(.scan).plan] + indexes.indices.map { candidate(.index($0)).plan }
  }
}

extension AccessPlanner {
  private struct Candidate {
    var plan: AccessPlan
    var score: Int
    /// Whether at most one record can be found by it.
    var isPoint: Bool
  }

  /// The plan that uses a path for whatever it can.
  private func candidate(_ path: AccessPlan.Path) -> Candidate {
    let indexed: [String]
    if case .index(let number) = path { indexed = indexes[number].fields } else { indexed = [] }
    let components = indexed + request.schema.key
    let (ranges, covered, score) = ranges(over: components)
    var plan = AccessPlan(
      path: path == .scan && score > 0 ? .primaryKey : path, components: components,
      indexedComponents: indexed.count, ranges: conjunction.isImpossible ? [] : ranges, isReversed: false,
      isOrdered: false, native: conjunction.node(only: covered), residual: conjunction.node(without: covered))
    settleOrder(&plan)
    let pinned = ranges.count == 1 ? ranges[0].equals : []
    var isPoint = indexed.isEmpty && pinned.count == components.count
    if case .index(let number) = path, indexes[number].isUnique, pinned.count >= indexed.count {
      isPoint = pinned.prefix(indexed.count).allSatisfy { !$0.isNull }
    }
    let bonus = (isPoint ? (indexed.isEmpty ? 2_000 : 1_000) : 0) + (plan.isOrdered ? 4 : 0)
    // Of two paths that are as good, the primary key's needs no second look-up.
    return Candidate(plan: plan, score: 2 * (score + bonus) + (indexed.isEmpty ? 1 : 0), isPoint: isPoint)
  }

  /// The ranges that the conditions leave of a path, which conditions they decide, and how narrow they are.
  private func ranges(over components: [String]) -> ([AccessPlan.Range], Set<Int>, Int) {
    var prefixes: [[PersistentValue]] = [[]]
    var covered: Set<Int> = []
    var score = 0
    for component in components {
      let name = StoredName(component)
      let terms = conjunction.terms.indices.filter { conjunction.terms[$0].field == name }
      if let (points, used) = points(terms), prefixes.count * points.count <= Self.rangeLimit {
        prefixes = prefixes.flatMap { prefix in points.map { prefix + [$0] } }
        covered.formUnion(used)
        score += 10
        continue
      }
      guard let (next, used, worth) = next(terms) else { break }
      covered.formUnion(used)
      guard let next else { return ([], covered, score + worth) }
      return (prefixes.map { AccessPlan.Range(equals: $0, next: next) }, covered, score + worth)
    }
    return (prefixes.map { AccessPlan.Range(equals: $0) }, covered, score)
  }

  /// The values that a field may have at most.
  private func points(_ terms: [Int]) -> ([PersistentValue], Set<Int>)? {
    var values: [PersistentValue]?
    var used: Set<Int> = []
    for index in terms {
      guard case .points(let points)? = conjunction.terms[index].constraint else { continue }
      values = values.map { known in known.filter(points.contains) } ?? points
      used.insert(index)
    }
    return values.map { ($0, used) }
  }

  /// What bounds a field, which conditions that decides, and what it is worth; a bound of nil where nothing fits.
  private func next(_ terms: [Int]) -> (AccessPlan.Next?, Set<Int>, Int)? {
    for index in terms {
      if case .prefix(let prefix)? = conjunction.terms[index].constraint {
        return (.prefix(prefix), [index], 6)
      }
    }
    var lower: AccessPlan.Bound?
    var upper: AccessPlan.Bound?
    var used: Set<Int> = []
    for index in terms {
      guard case .bounds(let low, let high)? = conjunction.terms[index].constraint else { continue }
      used.insert(index)
      if let low, lower.map({ isTighter(low, than: $0, sign: 1) }) ?? true { lower = low }
      if let high, upper.map({ isTighter(high, than: $0, sign: -1) }) ?? true { upper = high }
    }
    guard !used.isEmpty else { return nil }
    let worth = lower != nil && upper != nil ? 6 : 5
    // What is less than something is not nil, and nil lies below everything.
    let start = lower ?? AccessPlan.Bound(.null, isInclusive: false)
    if let upper {
      let order = PersistentValue.compare(start.value, upper.value)
      if order > 0 || (order == 0 && !(start.isInclusive && upper.isInclusive)) { return (nil, used, worth) }
    }
    return (.bounds(lower: start, upper: upper), used, worth)
  }

  private func isTighter(_ bound: AccessPlan.Bound, than other: AccessPlan.Bound, sign: Int) -> Bool {
    let order = PersistentValue.compare(bound.value, other.value) * sign
    return order > 0 || (order == 0 && !bound.isInclusive)
  }
}

extension AccessPlanner {
  /// Finds out whether walking the path yields the request's order, and where the walk begins.
  private func settleOrder(_ plan: inout AccessPlan) {
    let criteria = request.totalOrder.filter { conjunction.constant($0.field) == nil }
    let walked = plan.components.filter { conjunction.constant($0) == nil }
    let directions = Set(criteria.map(\.isDescending))
    let matches =
      directions.count <= 1 && walked.count >= criteria.count
      && zip(criteria, distinct(walked)).allSatisfy { StoredName($0.field) == StoredName($1) }
      && distinct(walked).count >= criteria.count
    plan.isOrdered = matches || plan.ranges.isEmpty
    plan.isReversed = matches && directions.first == true
    guard let after = request.after else { return }
    if plan.isOrdered, let anchor = anchor(after, along: plan.components) {
      plan.anchor = anchor
    } else {
      plan.native = nil
      plan.residual = request.predicateWithAnchor
    }
  }

  private func distinct(_ names: [String]) -> [String] {
    var seen: Set<StoredName> = []
    return names.filter { seen.insert(StoredName($0)).inserted }
  }

  /// The anchor's place on a path: the values of its first components, as far as they are known.
  private func anchor(_ after: PageAnchor, along components: [String]) -> [PersistentValue]? {
    var known: [StoredName: PersistentValue] = [:]
    for (value, criterion) in zip(after.values, request.totalOrder) {
      if let constant = conjunction.constant(criterion.field), constant != value.normalized { return nil }
      known[StoredName(criterion.field)] = value.normalized
    }
    var place: [PersistentValue] = []
    for component in components {
      guard let value = known[StoredName(component)] ?? conjunction.constant(component) else { break }
      place.append(value)
    }
    return place
  }
}
