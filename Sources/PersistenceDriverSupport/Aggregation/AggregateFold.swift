import PersistenceDriver

/// Computes aggregates row by row: the one definition of their results (contract V4).
package struct AggregateFold {
  private let request: AggregateRequest
  private let keyPositions: [Int]
  private let columns: [Column]
  private var states: [[PersistentValue]: [State]] = [:]
  /// The single group of a request without grouping, which has a result even without rows.
  private var whole: [State]

  private struct Column {
    let aggregate: Aggregate
    let position: Int
    let kind: FieldKind
  }

  package init(_ request: AggregateRequest) throws {
    let schema = request.rows.schema
    self.request = request
    keyPositions = try request.grouping.map(schema.requiredPosition)
    columns = try request.aggregates.map { aggregate in
      let position = try aggregate.field.map(schema.requiredPosition) ?? 0
      return Column(aggregate: aggregate, position: position, kind: schema.fields[position].kind)
    }
    whole = columns.map(Self.initial)
  }

  /// Adds a row of the request's schema.
  package mutating func add(_ row: borrowing Row) throws {
    guard !keyPositions.isEmpty else {
      for index in columns.indices { try whole[index].add(row.field(at: columns[index].position)) }
      return
    }
    var key: [PersistentValue] = []
    for position in keyPositions { key.append(try row.value(at: position)) }
    var group = states.removeValue(forKey: key) ?? columns.map(Self.initial)
    for (index, column) in columns.enumerated() {
      try group[index].add(row.field(at: column.position))
    }
    states[key] = group
  }

  /// The aggregates of the added rows, in ascending order of the groups' keys.
  package func groups() throws -> [AggregateGroup] {
    let groups: [(key: [PersistentValue], value: [State])] =
      keyPositions.isEmpty
      ? [(key: [], value: whole)]
      : states.sorted { RecordKey.compare(RecordKey($0.key), RecordKey($1.key)) < 0 }
    return try groups.map { key, group in
      let values = try zip(columns, group).map { column, state in
        guard let value = state.value() else {
          throw PersistenceError(
            .valueTooLarge,
            "\(column.aggregate) of \(request.rows.schema.name) exceeds the range of \(column.kind.rawValue) sums",
            model: request.rows.schema.name, field: column.aggregate.field)
        }
        return value
      }
      return AggregateGroup(key: key, values: values)
    }
  }

  private static func initial(_ column: Column) -> State {
    switch column.aggregate {
    case .count: .count(0)
    case .minimum: .least(.null)
    case .maximum: .greatest(.null)
    case .sum: .sum(Sum(column.kind), isAverage: false)
    case .average: .sum(Sum(column.kind), isAverage: true)
    }
  }

  private enum State {
    case count(Int64)
    case least(PersistentValue)
    case greatest(PersistentValue)
    case sum(Sum, isAverage: Bool)

    mutating func add(_ cell: RowCell) throws {
      switch self {
      case .count(let count): self = .count(count + 1)
      case _ where cell.isNull: return
      case .least(let least):
        let value = try cell.value()
        if least.isNull || value < least { self = .least(value) }
      case .greatest(let greatest):
        let value = try cell.value()
        if greatest.isNull || greatest < value { self = .greatest(value) }
      case .sum(var sum, let isAverage):
        self = .count(0)  // Releases the sum, so that it changes in place.
        try sum.add(cell)
        self = .sum(sum, isAverage: isAverage)
      }
    }

    /// The value; nil if it exceeds the range of its kind.
    func value() -> PersistentValue? {
      switch self {
      case .count(let count): .integer(count)
      case .least(let value), .greatest(let value): value
      case .sum(let sum, let isAverage): isAverage ? sum.average : sum.total
      }
    }
  }
}
