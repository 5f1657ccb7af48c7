import PersistenceDriver

extension PostgresSession {
  /// How the server executes a request, according to its own plan.
  func plan(for request: FetchRequest, of model: PostgresModel) throws -> QueryPlan {
    let query = try PostgresQuery(request, of: model, store.dialect)
    let select = try command(query.rows(query.columns(nil)), of: model)
    let result = try run(PostgresCommand("EXPLAIN " + select.sql, select.parameters), "plan a request")
    let lines = (0..<result.count).compactMap { result.text($0, 0) }.map { line in
      String(line.drop { " ->".contains($0) })
    }
    let native = PredicateNode.conjunction(of: query.native?.conjuncts ?? [])
    return QueryPlan(
      access: access(lines, of: model), native: native?.shape, residual: query.rest?.shape,
      ordering: lines.contains { $0.hasPrefix("Sort ") || $0.hasPrefix("Incremental Sort") }
        ? .byEngine : .byAccess,
      isReversed: lines.contains { $0.contains("Scan Backward") })
  }

  private func access(_ lines: [String], of model: PostgresModel) -> QueryPlan.Access {
    let scans = lines.filter { $0.contains(" Scan") }.map {
      $0.split(separator: "  ").first.map(String.init) ?? $0
    }
    guard let scan = scans.first, scans.count == 1 else {
      return .engine((scans.isEmpty ? Array(lines.prefix(1)) : scans).joined(separator: ", "))
    }
    if scan.hasPrefix("Seq Scan") { return .scan }
    for (index, built) in zip(model.layout.schema.indexes, model.layout.indexes) {
      guard let name = built.name else { continue }
      if scan.contains(" using \(name) on ") || scan.contains(" using \"\(name)\" on ") {
        return .index(index.fields)
      }
    }
    // The only other index is that of the key.
    return scan.contains(" using ") ? .primaryKey : .engine(scan)
  }
}
