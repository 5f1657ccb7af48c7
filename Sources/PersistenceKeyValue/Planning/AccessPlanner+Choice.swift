import PersistenceDriver

extension AccessPlanner {
  /// A plan with at most this many entries is taken without further estimates.
  static let fewEntries = 64
  /// How many entries are counted if at most one record of the sample matches.
  static let countedEntries = 1024

  /// The best plan; it reads the statistics only if the request alone does not decide.
  package func best(_ statistics: some PlanStatistics) throws -> AccessPlan {
    try best(statistics, knowing: nil)
  }

  /// The best plan; its path may be known from an earlier request of the same shape.
  package func best(_ statistics: some PlanStatistics, knowing known: KnownPlans?) throws -> AccessPlan {
    let shape = known == nil ? nil : RequestShape(request, needs)
    if let shape, let path = known?.path(for: shape) { return uncompared(path).plan }
    let candidates = useful()
    if let plan = obvious(candidates)?.plan {
      // Without ranges, the values decided.
      if let shape, !plan.ranges.isEmpty {
        known?.keep(plan.path == .primaryKey ? .scan : plan.path, for: shape)
      }
      return plan
    }
    for candidate in candidates.filter({ $0.score > 0 }).sorted(by: { $0.score > $1.score }).prefix(2) {
      let entries = try statistics.entries(of: candidate.plan, upTo: Self.fewEntries + 1)
      if entries <= Self.fewEntries { return candidate.plan }
    }
    return try cheapest(candidates, statistics)
  }

  /// The plan that reads only matching rows and in the required order; nil if there is none.
  package func exact() -> AccessPlan? { exact(useful())?.plan }

  /// The plans that may be the best.
  private func useful() -> [PlanCandidate] {
    [candidate(.scan)]
      + indexes.indices.map { candidate(.index($0)) }.filter {
        $0.score > 0 || $0.isCovering || !$0.keyTerms.isEmpty || (needs.isOrdered && $0.plan.isOrdered)
      }
  }

  /// The plan that is best whatever the estimates are.
  private func obvious(_ candidates: [PlanCandidate]) -> PlanCandidate? {
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

  /// The plan with the lowest estimated cost.
  private func cheapest(_ candidates: [PlanCandidate], _ statistics: some PlanStatistics) throws -> AccessPlan
  {
    let total = Double(try statistics.total())
    let sample = try statistics.sample(conjunction.terms.map { $0.node })
    let all = Set(conjunction.terms.indices)
    let wanted = request.limit.map { Double($0) + Double(request.offset) } ?? .infinity
    let cost = PlanCost(
      total: total, rows: max(1, total * sample.share(all)), wanted: wanted, isOrderNeeded: needs.isOrdered,
      order: request.totalOrder.map { $0.field })
    let entries = try candidates.map { candidate in
      let estimate = total * sample.share(candidate.covered)
      guard candidate.score > 0, sample.hits(candidate.covered) <= 1 else { return estimate }
      let counted = Double(try statistics.entries(of: candidate.plan, upTo: Self.countedEntries))
      return counted < Double(Self.countedEntries) ? counted : max(counted, estimate)
    }
    // Results are lazy: a sort replaces a path in order only if it reads and buffers few rows.
    let isLazy = needs.isOrdered && candidates.contains { $0.plan.isOrdered }
    var best: (plan: AccessPlan, cost: Double)?
    func consider(_ candidate: PlanCandidate, _ price: Double, reading entries: Double) {
      let isAllowed =
        !isLazy || candidate.plan.isOrdered || entries <= PlanCost.sortedEntriesLimit
        || wanted <= PlanCost.sortedRowsLimit
      guard isAllowed, price < best?.cost ?? .infinity else { return }
      best = (candidate.plan, price)
    }
    for (candidate, entries) in zip(candidates, entries) {
      let passed = share(of: candidate.keyTerms, given: candidate.covered, sample)
      consider(candidate, cost.cost(candidate, entries: entries, passed: passed), reading: entries)
    }
    let narrow = candidates.indices.filter { candidates[$0].isNarrowIndex }
    for first in narrow {
      for second in narrow where first != second && entries[first] >= entries[second] {
        let (walked, collected) = (candidates[first], candidates[second])
        guard !walked.covered.isSubset(of: collected.covered),
          !collected.covered.isSubset(of: walked.covered),
          entries[second] <= PlanCost.collectedKeysLimit
        else { continue }
        let both = intersection(of: walked, with: collected)
        let met = min(entries[second], total * sample.share(both.covered))
        let passed = share(of: both.keyTerms, given: both.covered, sample)
        let sides = cost.intersecting(entries[first], entries[second])
        consider(
          both, sides + cost.cost(both, entries: met, passed: passed),
          reading: entries[first] + entries[second])
      }
    }
    return best?.plan ?? candidates[0].plan
  }

  /// The fraction of the records matching some conditions that match further ones too.
  private func share(of more: Set<Int>, given: Set<Int>, _ sample: PlanSample) -> Double {
    more.isEmpty ? 1 : min(1, sample.share(more.union(given)) / sample.share(given))
  }
}

extension AccessPlanner {
  /// A path whose keys begin with the grouping fields, apart from components with constant values.
  ///
  /// - Returns: The plan, and how many components identify a group; nil if every such path reads records.
  package func grouped(by fields: [String]) -> (plan: AccessPlan, components: Int)? {
    guard request.after == nil else { return nil }
    let wanted = Set(fields.map(StoredName.init))
    for candidate in indexes.indices.map({ self.candidate(.index($0)) }) + [self.candidate(.scan)]
    where candidate.plan.residual == nil {
      var missing = wanted
      for (number, component) in candidate.plan.components.enumerated() {
        let isGrouped = missing.remove(StoredName(component)) != nil || wanted.contains(StoredName(component))
        guard isGrouped || conjunction.constant(component) != nil else { break }
        if missing.isEmpty { return (candidate.plan, number + 1) }
      }
    }
    return nil
  }
}

/// A plan with the properties that decide the choice.
struct PlanCandidate {
  var plan: AccessPlan
  /// A score of the ranges' selectivity, before anything is counted; 0 if the ranges contain everything.
  var score: Int
  /// Whether the plan finds at most one record.
  var isPoint: Bool
  /// The conditions that the ranges decide, by position.
  var covered: Set<Int>
  /// The other conditions that the path's keys decide.
  var keyTerms: Set<Int> = []
  /// Whether the keys contain all fields that the request reads and evaluates.
  var isCovering = false

  /// Whether the path's keys contain all of these fields.
  ///
  /// Comparing a few names is faster than hashing them.
  func holds(_ fields: [String]) -> Bool {
    fields.allSatisfy { field in
      let name = StoredName(field)
      return plan.components.contains { StoredName($0) == name }
    }
  }

  var isIndex: Bool { if case .index = plan.path { true } else { false } }

  /// Whether the plan reads a part of an index.
  var isNarrowIndex: Bool { isIndex && score > 0 && !plan.ranges.isEmpty }
}
