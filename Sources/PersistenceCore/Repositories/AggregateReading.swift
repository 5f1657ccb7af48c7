import PersistenceDriver

extension PersistentRecord {
  /// Asks a context for aggregates over the records of a fetch.
  static func aggregate(
    in context: any PersistentContext, options: FetchOptions<Self>, grouping: [String],
    _ aggregates: [Aggregate]
  ) throws -> [AggregateGroup] {
    let access = try StorageAccess(context, for: Self.self)
    let rows = try options.request(in: access.root)
    let request = try AggregateRequest(rows, grouping: grouping, aggregates: aggregates)
    return try access.root.monitor.measure(rows) {
      try access.reader.plan(for: rows)
    } _: {
      try access.reader.aggregate(request)
    }
  }
}

extension PersistentValueConvertible {
  /// The typed value of a stored one.
  static func converted(from value: PersistentValue) throws -> Self {
    let row = RowBuffer(count: 1)
    row.set(value, at: 0)
    return try row.withRow { try read(from: $0, at: 0) }
  }
}
