package import PersistenceDriver

extension AccessPlan {
  /// The plan as the driver contract states it, without any value.
  ///
  /// - Parameters:
  ///   - request: What is asked for.
  ///   - isIndexOnly: Whether no record is read for it.
  /// - Returns: The plan.
  package func queryPlan(for request: FetchRequest, isIndexOnly: Bool) -> QueryPlan {
    let access: QueryPlan.Access =
      switch path {
      case .scan: .scan
      case .primaryKey: .primaryKey
      case .index: .index(Array(components.prefix(indexedComponents)))
      }
    var plan = QueryPlan(
      access: access, native: native?.shape, residual: residual?.shape,
      ordering: isOrdered ? .byAccess : .sorted)
    plan.range = shape
    plan.ranges = ranges.count
    plan.isReversed = isReversed
    plan.isIndexOnly = isIndexOnly
    plan.intersected = intersected.map { other in
      let fields = other.components.prefix(other.indexedComponents).joined(separator: ", ")
      return "index (\(fields))" + (other.shape.map { " where \($0)" } ?? "")
    }
    if !isOrdered, let limit = request.limit {
      let (kept, overflows) = limit.addingReportingOverflow(request.offset)
      plan.sortedAtMost = overflows ? nil : kept
    }
    return plan
  }

  /// The ranges in words, with `?` for every value: what may be logged at any level.
  private var shape: String? {
    var shapes: [String] = []
    for range in ranges {
      let shape = words(range) { _ in "?" }
      if !shape.isEmpty, !shapes.contains(shape) { shapes.append(shape) }
    }
    if anchor != nil { shapes.append("after an anchor") }
    return shapes.isEmpty ? nil : shapes.joined(separator: " or ")
  }
}
