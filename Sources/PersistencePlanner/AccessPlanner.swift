package import PersistenceDriver

/// Chooses how the rows of a request are found: a pure function of the request, the indexes and estimates.
///
/// Every plan gives the same rows in the same order; the choice is one of speed and memory alone.
package struct AccessPlanner {
  /// How many ranges one plan may have.
  static let rangeLimit = 16_384

  let request: FetchRequest
  let indexes: [IndexSchema]
  let conjunction: Conjunction
  let needs: AccessNeeds

  /// Prepares planning.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - indexes: The indexes that the store keeps, whose positions plans will name.
  ///   - needs: What is wanted of the rows.
  package init(_ request: FetchRequest, indexes: [IndexSchema], needs: AccessNeeds = .rows) {
    self.request = request
    self.needs = needs
    self.indexes = indexes
    conjunction = Conjunction(request.predicate)
  }

  /// Every plan that can answer the request, so that tests can compare what they give.
  package func all() -> [AccessPlan] {
    let single = [candidate(.scan)] + indexes.indices.map { candidate(.index($0)) }
    let narrow = single.filter { $0.isNarrowIndex }
    return single.map { $0.plan }
      + narrow.flatMap { first in
        narrow.filter { $0.plan.path != first.plan.path }.map { intersection(of: first, with: $0).plan }
      }
  }
}

extension AccessPlanner {
  /// The plan that uses a path for whatever it can.
  func candidate(_ path: AccessPlan.Path) -> PlanCandidate {
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
    return held(PlanCandidate(plan: plan, score: score, isPoint: isPoint, covered: covered))
  }

  /// The plan that takes the rows that two paths lead to.
  func intersection(of walked: PlanCandidate, with collected: PlanCandidate) -> PlanCandidate {
    let covered = walked.covered.union(collected.covered)
    var plan = walked.plan
    plan.anchor = nil
    plan.isOrdered = false
    plan.isReversed = false
    var other = collected.plan
    other.anchor = nil
    plan.intersected = [other]
    plan.native = request.after == nil ? conjunction.node(only: covered) : nil
    plan.residual = request.after == nil ? conjunction.node(without: covered) : request.predicateWithAnchor
    return held(
      PlanCandidate(plan: plan, score: walked.score + collected.score, isPoint: false, covered: covered))
  }

  /// Finds out what the keys of a path tell.
  private func held(_ candidate: PlanCandidate) -> PlanCandidate {
    var candidate = candidate
    for index in conjunction.terms.indices
    where !candidate.covered.contains(index) && candidate.holds(conjunction.terms[index].node.fields) {
      candidate.keyTerms.insert(index)
    }
    let isShort = needs.fields == nil && candidate.plan.components.count < request.schema.fields.count
    candidate.holdsNeeds =
      !isShort && candidate.holds(needs.fields ?? request.schema.fields.map { $0.name })
      && candidate.holds(candidate.plan.residual?.fields ?? [])
    return candidate
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
      values = values.map { $0.filter(Set(points).contains) } ?? points
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
