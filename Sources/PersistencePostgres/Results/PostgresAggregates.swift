import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

/// Aggregates: the server computes those that it computes exactly as the contract requires; for others, a fold reads the
/// necessary fields.
///
/// The server's sums of floating-point numbers depend on the order of rows. Booleans, UUIDs and bytes have no minimum
/// there.
struct PostgresAggregates {
  private let request: AggregateRequest
  private let query: PostgresQuery
  private var schema: ModelSchema { request.rows.schema }

  init(_ request: AggregateRequest, of model: PostgresModel, _ dialect: PostgresDialect) throws {
    self.request = request
    query = try PostgresQuery(request.rows, of: model, dialect)
  }

  func groups(_ session: PostgresSession) throws -> [AggregateGroup] {
    if query.residual == nil, let items = items(), let groups = try compute(items, session) { return groups }
    return try fold(session)
  }

  private var positions: [Int] { request.grouping.compactMap { schema.position(of: $0) } }

  /// The columns of the statement: the groups' fields, then one for each aggregate, two for an average; nil if the server
  /// cannot compute one of the aggregates.
  private func items() -> [SQLItem]? {
    var items = positions.map { SQLItem(.field, $0) }
    for aggregate in request.aggregates {
      guard let position = aggregate.field.flatMap({ schema.position(of: $0) }) else {
        items.append(SQLItem(.count))
        continue
      }
      let kind = schema.fields[position].kind
      switch aggregate {
      case .minimum where Self.hasMinimum(kind): items.append(SQLItem(.minimum, position))
      case .maximum where Self.hasMinimum(kind): items.append(SQLItem(.maximum, position))
      case .sum where kind.isInteger: items.append(SQLItem(.sum, position))
      case .average where kind.isInteger:
        items.append(SQLItem(.sum, position))
        items.append(SQLItem(.countOfValues, position))
      default: return nil
      }
    }
    return items
  }

  private static func hasMinimum(_ kind: FieldKind) -> Bool { ![.bool, .uuid, .bytes].contains(kind.tag) }

  /// The groups as the server computes them; nil if a sum exceeds 64 bits.
  private func compute(_ items: [SQLItem], _ session: PostgresSession) throws -> [AggregateGroup]? {
    let items = items.isEmpty ? [SQLItem(.count)] : items
    let rows = request.rows
    let statement = query.lowered.aggregates(items, limit: rows.limit, offset: rows.offset)
    let result = try session.run(
      try session.command(statement, of: query.model), "aggregate the records of \(schema.name)", reads: true)
    let fields = query.model.columns.readers
    var groups: [AggregateGroup] = []
    for row in 0..<result.count {
      var column = 0
      let key = try positions.map { position in
        defer { column += 1 }
        return try result.value(row, column, fields[position], query.model.foreign?[position])
      }
      var values: [PersistentValue] = []
      for aggregate in request.aggregates {
        guard let value = try value(of: aggregate, result, row, &column, fields) else { return nil }
        values.append(value)
      }
      groups.append(AggregateGroup(key: key, values: values))
    }
    return groups
  }

  private func value(
    of aggregate: Aggregate, _ result: PostgresResult, _ row: Int, _ column: inout Int,
    _ fields: [PostgresColumns.Reader]
  ) throws -> PersistentValue? {
    defer { column += 1 }
    switch aggregate {
    case .count: return .integer(result.integer(row, column) ?? 0)
    case .minimum(let name), .maximum(let name):
      guard let position = schema.position(of: name) else { return nil }
      return try result.value(row, column, fields[position], query.model.foreign?[position])
    case .sum, .average:
      // A sum of integers is a `numeric`, which never overflows.
      guard let bytes = result.bytes(row, column) else {
        if case .average = aggregate { column += 1 }
        return aggregate.field == nil ? nil : emptySum(aggregate)
      }
      guard let text = PostgresNumeric.canonicalText(bytes),
        let sum = Int64(String(decoding: text, as: UTF8.self))
      else { return nil }
      guard case .average = aggregate else { return .integer(sum) }
      column += 1
      let count = result.integer(row, column) ?? 0
      return count == 0 ? .null : .double(Double(sum) / Double(count))
    }
  }

  private func emptySum(_ aggregate: Aggregate) -> PersistentValue {
    if case .average = aggregate { .null } else { .integer(0) }
  }

  private func fold(_ session: PostgresSession) throws -> [AggregateGroup] {
    var fold = try AggregateFold(request)
    let fields = request.aggregates.compactMap { $0.field.flatMap { schema.position(of: $0) } }
    let selected = Set(positions + fields).sorted()
    // At least one field, since no fields mean all.
    let needed = selected.isEmpty ? [schema.keyPositions[0]] : selected
    let row = RowBuffer(count: schema.fields.count)
    var (skipped, left) = (query.residual == nil ? 0 : request.rows.offset, Int.max)
    if query.residual != nil, let limit = request.rows.limit { left = limit }
    guard left > 0 else { return try fold.groups() }
    let isPage = request.rows.limit != nil || request.rows.offset > 0
    try session.scan(query, selecting: needed, isOrdered: isPage) { found in
      if skipped > 0 {
        skipped -= 1
        return true
      }
      for (column, position) in needed.enumerated() { row.setCell(found[column], at: position) }
      try row.withRow { try fold.add($0) }
      left -= 1
      return left > 0
    }
    return try fold.groups()
  }
}

extension PostgresReader {
  /// Computes aggregates over the rows of a request, in the server if possible.
  public func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    try withReadingSession { session in
      guard let model = try session.model(for: request.rows.schema), request.rows.limit != 0 else {
        try session.verify()
        return try AggregateFold(request).groups()
      }
      return try PostgresAggregates(request, of: model, session.store.dialect).groups(session)
    }
  }
}
