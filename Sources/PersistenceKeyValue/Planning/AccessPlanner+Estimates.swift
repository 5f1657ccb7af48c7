import PersistenceDriver

extension AccessPlanner {
  /// How many entries are counted if at most one record of the sample matches.
  private static let countedEntries = 1024

  /// Every plan that can answer the request, so that tests can compare their results.
  package func all() -> [AccessPlan] {
    let single = [candidate(.scan)] + indexes.indices.map { candidate(.index($0)) }
    let narrow = single.filter { $0.isNarrowIndex }
    return single.map { $0.plan }
      + narrow.flatMap { first in
        narrow.filter { $0.plan.path != first.plan.path }.map { intersection(of: first, with: $0).plan }
      }
  }

  /// The plan that intersects the rows of two paths.
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
    return addingCoverage(
      PlanCandidate(plan: plan, score: walked.score + collected.score, isPoint: false, covered: covered))
  }

  /// The plan with the lowest estimated cost.
  func cheapest(_ candidates: [PlanCandidate], _ statistics: some PlanStatistics) throws -> AccessPlan {
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
