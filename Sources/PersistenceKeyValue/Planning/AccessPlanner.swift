package import PersistenceDriver

/// Picks one of several equivalent plans: takes their number, and returns the position of one.
///
/// Tests inject a chooser to run every plan. Without one, the planner picks the cheapest plan.
package typealias PlanChooser = @Sendable (_ count: Int) -> Int

/// Plans a request: a pure function of the request, the indexes and estimates.
///
/// Every plan yields the same rows in the same order. Plans differ only in speed and memory.
package struct AccessPlanner {
  static let rangeLimit = 16_384

  let request: FetchRequest
  let indexes: [IndexSchema]
  let conjunction: Conjunction
  let needs: AccessNeeds

  /// Prepares planning; a plan refers to an index by its position in the list.
  package init(_ request: FetchRequest, indexes: [IndexSchema], needs: AccessNeeds = .rows) {
    self.request = request
    self.needs = needs
    self.indexes = indexes
    conjunction = Conjunction(request.predicate)
  }
}

extension AccessPlanner {
  /// A plan with at most this many entries is taken without further estimates.
  private static let fewEntries = 64

  /// The best plan; it reads the statistics only if the request alone does not decide.
  package func best(_ statistics: some PlanStatistics) throws -> AccessPlan {
    let candidates = useful()
    return try obvious(candidates)?.plan ?? estimated(candidates, statistics)
  }

  /// The best plan where the request alone does not decide.
  func estimated(_ candidates: [PlanCandidate], _ statistics: some PlanStatistics) throws
    -> AccessPlan
  {
    for candidate in candidates.filter({ $0.score > 0 }).sorted(by: { $0.score > $1.score }).prefix(2) {
      let entries = try statistics.entries(of: candidate.plan, upTo: Self.fewEntries + 1)
      if entries <= Self.fewEntries { return candidate.plan }
    }
    return try cheapest(candidates, statistics)
  }

  /// The plan that reads only matching rows and in the required order; nil if there is none.
  package func exact() -> AccessPlan? { exact(useful())?.plan }

  /// The plans that may be the best.
  func useful() -> [PlanCandidate] {
    [candidate(.scan)]
      + indexes.indices.map { candidate(.index($0)) }.filter {
        $0.score > 0 || $0.isCovering || !$0.keyTerms.isEmpty || (needs.isOrdered && $0.plan.isOrdered)
      }
  }

  /// The plan that is best whatever the estimates are.
  func obvious(_ candidates: [PlanCandidate]) -> PlanCandidate? {
    if candidates.count == 1 { return candidates[0] }
    if let nothing = candidates.first(where: { $0.plan.ranges.isEmpty }) { return nothing }
    // Of two equal paths, the primary key comes first: it needs no second lookup.
    if let point = candidates.first(where: { $0.isPoint }) { return point }
    return exact(candidates)
  }

  private func exact(_ candidates: [PlanCandidate]) -> PlanCandidate? {
    let exact = candidates.filter {
      $0.plan.residual == nil && ($0.plan.isOrdered || !needs.isOrdered)
    }
    // The catalog keeps the number of all records, so a scan counts them without reading any.
    if needs.fields?.isEmpty ?? false, let all = exact.first(where: { $0.plan.path == .scan }) { return all }
    return exact.enumerated().min {
      (PlanCost.step($0.element), $0.offset) < (PlanCost.step($1.element), $1.offset)
    }?.element
  }
}

extension AccessPlanner {
  /// The plan that uses a path for all conditions that the path can decide, with what its keys cover.
  func candidate(_ path: AccessPlan.Path) -> PlanCandidate { addingCoverage(uncompared(path)) }

  /// The same without what only a comparison of paths needs.
  func uncompared(_ path: AccessPlan.Path) -> PlanCandidate {
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
    return PlanCandidate(plan: plan, score: score, isPoint: isPoint, covered: covered)
  }

  /// Determines which conditions and fields the keys of a path cover.
  func addingCoverage(_ candidate: PlanCandidate) -> PlanCandidate {
    var candidate = candidate
    for index in conjunction.terms.indices
    where !candidate.covered.contains(index) && candidate.holds(conjunction.terms[index].node.fields) {
      candidate.keyTerms.insert(index)
    }
    let isShort = needs.fields == nil && candidate.plan.components.count < request.schema.fields.count
    candidate.isCovering =
      !isShort && candidate.holds(needs.fields ?? request.schema.fields.map { $0.name })
      && candidate.holds(candidate.plan.residual?.fields ?? [])
    return candidate
  }

  /// The ranges of a path that satisfy the conditions, which conditions they decide, and a score of their
  /// selectivity.
  private func ranges(over components: [String]) -> ([AccessPlan.Range], Set<Int>, Int) {
    var prefixes: [[PersistentValue]] = [[]]
    var covered: Set<Int> = []
    var score = 0
    for component in components {
      let name = StoredName(component)
      let terms = conjunction.terms.indices.filter { conjunction.terms[$0].field == name }
      if let (points, used) = points(terms), prefixes.count * points.count <= Self.rangeLimit {
        if points.count == 1 {
          for index in prefixes.indices { prefixes[index].append(points[0]) }
        } else {
          prefixes = prefixes.flatMap { prefix in points.map { prefix + [$0] } }
        }
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

  /// The only values that the conditions allow a field to have.
  private func points(_ terms: [Int]) -> ([PersistentValue], Set<Int>)? {
    var values: [PersistentValue]?
    var used: Set<Int> = []
    for index in terms {
      guard case .points(let points)? = conjunction.terms[index].constraint else { continue }
      values = values.map { $0.filter(Set(points).contains) } ?? points
      used.insert(index)
    }
    return values.map { ($0, used) }
  }

  /// The bounds of a field, which conditions they decide, and their score; bounds of nil if no value can
  /// match.
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
    // A comparison never matches nil, which sorts first.
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
  /// Determines whether the path yields the request's order, its direction and its anchor.
  func settleOrder(_ plan: inout AccessPlan) {
    let isDescending = direction(of: plan.components)
    plan.isOrdered = isDescending != nil || plan.ranges.isEmpty
    plan.isReversed = isDescending ?? false
    guard let after = request.after else { return }
    if plan.isOrdered, let anchor = anchor(after, along: plan.components) {
      plan.anchor = anchor
    } else {
      plan.native = nil
      plan.residual = request.predicateWithAnchor
    }
  }

  /// Whether a cursor has to run in reverse to yield the request's order; nil if the path yields another
  /// order.
  ///
  /// A field with one value in all rows does not affect the order; neither does a component that occurs twice
  /// in a key.
  private func direction(of components: [String]) -> Bool? {
    var isDescending: Bool?
    var index = 0
    for criterion in request.totalOrder where conjunction.constant(criterion.field) == nil {
      guard isDescending ?? criterion.isDescending == criterion.isDescending else { return nil }
      isDescending = criterion.isDescending
      while index < components.count, isConstant(index, in: components) { index += 1 }
      guard index < components.count, StoredName(components[index]) == StoredName(criterion.field) else {
        return nil
      }
      index += 1
    }
    return isDescending ?? false
  }

  private func isConstant(_ index: Int, in components: [String]) -> Bool {
    if conjunction.constant(components[index]) != nil { return true }
    let name = StoredName(components[index])
    return components[..<index].contains { StoredName($0) == name }
  }

  /// The anchor's position on a path: the values of its first components, as far as they are known.
  private func anchor(_ after: PageAnchor, along components: [String]) -> [PersistentValue]? {
    var known: [StoredName: PersistentValue] = [:]
    for (value, criterion) in zip(after.values, request.totalOrder) {
      if let constant = conjunction.constant(criterion.field), constant != value.normalized { return nil }
      known[StoredName(criterion.field)] = value.normalized
    }
    var position: [PersistentValue] = []
    for component in components {
      guard let value = known[StoredName(component)] ?? conjunction.constant(component) else { break }
      position.append(value)
    }
    return position
  }
}

/// What the caller reads of the rows of a request.
///
/// A plan does not pay for fields or an order that the caller does not read.
package struct AccessNeeds: Sendable {
  /// The stored names of the fields that the caller reads of each row; nil for all.
  package var fields: [String]?
  /// Whether the caller needs the rows in the request's order.
  package var isOrdered: Bool

  package init(fields: [String]?, isOrdered: Bool) {
    self.fields = fields
    self.isOrdered = isOrdered
  }

  /// Whole rows in order.
  package static let rows = AccessNeeds(fields: nil, isOrdered: true)

  /// No fields: only the number of rows.
  package static let count = AccessNeeds(fields: [], isOrdered: false)
}
