import CSQLite
import PersistenceDriver
import PersistenceSQL
import PersistenceDriverSupport

/// Aggregates: SQLite computes those that it computes exactly as the contract requires; for others, a fold reads the
/// necessary fields.
///
/// SQLite counts, groups, finds minima and maxima, and sums integers. It does not sum floating-point numbers and
/// decimals exactly, and it compares decimals as texts, not as numbers.
struct SQLiteAggregates {
  private let request: AggregateRequest
  private let model: SQLiteModel
  private let query: SQLQuery

  init(_ request: AggregateRequest, of model: SQLiteModel) throws {
    self.request = request
    self.model = model
    query = try SQLQuery(request.rows, includingAnchor: true, model: model.number)
  }

  func groups(_ connection: SQLiteConnection) throws -> [AggregateGroup] {
    if let columns = columns() {
      do {
        if let groups = try compute(columns, connection) { return groups }
      } catch let error as PersistenceError where error.engineError?.code == Int(SQLITE_ERROR) {
        // An intermediate sum overflowed 64 bits, which is an error in SQLite; the exact sum may not overflow.
      }
    }
    return try fold(connection)
  }

  private var positions: [Int] { request.grouping.compactMap { model.schema.position(of: $0) } }

  /// The columns of the statement: the groups' fields, then one for each aggregate, two for an average; nil if SQLite
  /// cannot compute one of the aggregates.
  private func columns() -> [SQLItem]? {
    var items = positions.map { SQLItem(.field, $0) }
    for aggregate in request.aggregates {
      guard let position = aggregate.field.map({ model.schema.position(of: $0) ?? 0 }) else {
        items.append(SQLItem(.count))
        continue
      }
      let kind = model.schema.fields[position].kind
      switch aggregate {
      case .minimum where kind != .decimal: items.append(SQLItem(.minimum, position))
      case .maximum where kind != .decimal: items.append(SQLItem(.maximum, position))
      case .sum where kind.isInteger: items.append(SQLItem(.sum, position))
      case .average where kind.isInteger:
        items.append(SQLItem(.sum, position))
        items.append(SQLItem(.countOfValues, position))
      default: return nil
      }
    }
    return items
  }

  /// The groups as SQLite computes them; nil if a sum is not of integers only.
  private func compute(_ items: [SQLItem], _ connection: SQLiteConnection) throws -> [AggregateGroup]? {
    let items = items.isEmpty ? [SQLItem(.count)] : items
    let statement = query.aggregates(items, limit: request.rows.limit, offset: request.rows.offset)
    return try connection.withStatement(statement, of: model) { prepared in
      var groups: [AggregateGroup] = []
      while try prepared.step() {
        var column = positions.count
        let key = try prepared.values(positions)
        var values: [PersistentValue] = []
        values.reserveCapacity(request.aggregates.count)
        for aggregate in request.aggregates {
          guard let value = try value(of: aggregate, prepared, &column) else { return nil }
          values.append(value)
        }
        groups.append(AggregateGroup(key: key, values: values))
      }
      return groups
    }
  }

  private func value(of aggregate: Aggregate, _ statement: SQLiteStatement, _ column: inout Int) throws
    -> PersistentValue?
  {
    defer { column += 1 }
    switch aggregate {
    case .count: return .integer(statement.integer(Int32(truncatingIfNeeded: column)))
    case .minimum(let name), .maximum(let name):
      guard let position = model.schema.position(of: name) else { return nil }
      return try statement.value(
        column, by: model.cells[position].optional, of: model.schema.fields[position])
    case .sum, .average:
      let sum = SQLiteValue(statement.handle, column: column)
      let isEmpty = sum.type == SQLITE_NULL
      // SQLite returns a real sum if one of the values is not an integer.
      guard isEmpty || sum.type == SQLITE_INTEGER else { return nil }
      guard case .average = aggregate else { return .integer(isEmpty ? 0 : sum.integer) }
      column += 1
      let count = statement.integer(Int32(truncatingIfNeeded: column))
      return count == 0 ? .null : .double(Double(sum.integer) / Double(count))
    }
  }

  private func fold(_ connection: SQLiteConnection) throws -> [AggregateGroup] {
    var fold = try AggregateFold(request)
    let fields = request.aggregates.compactMap { $0.field.flatMap { model.schema.position(of: $0) } }
    let columns = SQLiteColumns([], and: Set(positions + fields).sorted(), of: model.cells)
    let isPage = request.rows.limit != nil || request.rows.offset > 0
    let statement =
      isPage
      ? query.select(.rows, columns.items, limit: request.rows.limit, offset: request.rows.offset)
      : query.unordered(columns.items)
    // A row of the model, in which fields that are not needed stay nil.
    let row = RowBuffer(count: model.cells.count)
    try connection.withStatement(statement, of: model) { prepared in
      let cells = prepared.cells(of: columns)
      while try prepared.step() {
        try prepared.fill(cells, columns)
        for (column, position) in columns.positions.enumerated() { row.setCell(cells[column], at: position) }
        try row.withRow { try fold.add($0) }
      }
    }
    return try fold.groups()
  }
}

extension SQLiteReader {
  /// Computes aggregates over the rows of a request, in SQLite if possible.
  public func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    try withInterruptibleReader { connection in
      guard let model = try connection.model(for: request.rows.schema), request.rows.limit != 0 else {
        return try AggregateFold(request).groups()
      }
      return try SQLiteAggregates(request, of: model).groups(connection)
    }
  }
}
