import PersistenceDriver

extension AccessPlanner {
  /// Finds out whether walking the path yields the request's order, and where the walk begins.
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

  /// Whether a path is walked from its greatest key to yield the request's order; nil where it yields another.
  ///
  /// What has one value in all rows, and what stands in a key for a second time, orders nothing.
  private func direction(of components: [String]) -> Bool? {
    var isDescending: Bool?
    var place = 0
    for criterion in request.totalOrder where conjunction.constant(criterion.field) == nil {
      guard isDescending ?? criterion.isDescending == criterion.isDescending else { return nil }
      isDescending = criterion.isDescending
      while place < components.count, ordersNothing(place, in: components) { place += 1 }
      guard place < components.count, StoredName(components[place]) == StoredName(criterion.field) else {
        return nil
      }
      place += 1
    }
    return isDescending ?? false
  }

  private func ordersNothing(_ place: Int, in components: [String]) -> Bool {
    if conjunction.constant(components[place]) != nil { return true }
    let name = StoredName(components[place])
    return components[..<place].contains { StoredName($0) == name }
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
