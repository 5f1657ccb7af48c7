import PersistenceDriver

extension AccessPlanner {
  /// Finds out whether walking the path yields the request's order, and where the walk begins.
  func settleOrder(_ plan: inout AccessPlan) {
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
