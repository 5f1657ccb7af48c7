import PersistenceCore

/// Selections and aggregates, as the contract states them.
extension FuzzReference {
  func rows(_ query: FuzzQuery, _ schemas: [ModelSchema], selecting positions: [Int]) throws
    -> [[PersistentValue]]
  {
    _ = try check(query, schemas)
    let count = schemas[query.model].fields.count
    guard positions.allSatisfy({ $0 >= 0 && $0 < count }) else { throw Refusal(.invalidRequest) }
    return try rows(query, schemas).map { row in positions.map { row[$0] } }
  }

  /// Returns the groups of a request's rows in ascending order: the key's values, then the aggregates.
  func groups(
    _ query: FuzzQuery, _ schemas: [ModelSchema], by grouping: [String], _ aggregates: [Aggregate]
  ) throws -> [[PersistentValue]] {
    _ = try check(query, schemas)
    let fields = schemas[query.model].fields
    func place(_ name: String, _ accepts: (FieldKind) -> Bool) throws -> Int {
      guard let position = Self.position(of: name, in: fields) else { throw Refusal(.unknownField) }
      guard accepts(fields[position].kind) else { throw Refusal(.invalidRequest) }
      return position
    }
    let keyed = try grouping.map { try place($0) { $0 != .document } }
    let columns = try aggregates.map { aggregate in
      switch aggregate {
      case .count: 0
      case .minimum(let name), .maximum(let name): try place(name) { $0 != .document }
      case .sum(let name), .average(let name): try place(name, Self.isNumber)
      }
    }
    var groups: [(key: [PersistentValue], rows: [[PersistentValue]])] = keyed.isEmpty ? [([], [])] : []
    for row in try rows(query, schemas) {
      let key = keyed.map { row[$0] }
      // The position of the key, or for its insertion; groups are few, so a linear search is enough.
      let place = groups.firstIndex { Self.order($0.key, key) >= 0 } ?? groups.count
      if place < groups.count, Self.order(groups[place].key, key) == 0 {
        groups[place].rows.append(row)
      } else {
        groups.insert((key, [row]), at: place)
      }
    }
    return try groups.map { key, rows in
      try key
        + zip(aggregates, columns).map { aggregate, position in
          try Self.value(aggregate, rows, position, fields[position].kind)
        }
    }
  }

  private static func isNumber(_ kind: FieldKind) -> Bool {
    switch kind {
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .float, .double, .decimal: true
    case .bool, .string, .data, .date, .uuid, .url, .document: false
    }
  }

  static func order(_ left: [PersistentValue], _ right: [PersistentValue]) -> Int {
    zip(left, right).lazy.map { FuzzValue.order($0, $1) }.first { $0 != 0 } ?? 0
  }

  private static func value(
    _ aggregate: Aggregate, _ rows: [[PersistentValue]], _ position: Int, _ kind: FieldKind
  ) throws -> PersistentValue {
    let values = rows.map { $0[position] }.filter { !$0.isNull }
    switch aggregate {
    case .count: return .integer(Int64(rows.count))
    case .minimum: return values.min { FuzzValue.order($0, $1) < 0 } ?? .null
    case .maximum: return values.max { FuzzValue.order($0, $1) < 0 } ?? .null
    case .sum: return try FuzzSum.sum(values, kind)
    case .average: return values.isEmpty ? .null : try FuzzSum.average(values, kind)
    }
  }
}
