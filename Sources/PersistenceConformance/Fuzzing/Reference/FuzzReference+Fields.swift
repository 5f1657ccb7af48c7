import PersistenceCore

/// Selections, aggregates and bulk updates, as the contract states them.
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

  mutating func updateRows(_ query: FuzzQuery, _ schemas: [ModelSchema], set assignments: [FieldAssignment])
    throws -> Int
  {
    _ = try check(query, schemas)
    let schema = schemas[query.model]
    guard !assignments.isEmpty else { throw Refusal(.invalidRequest) }
    var places: [Int] = []
    for assignment in assignments {
      guard let position = Self.position(of: assignment.field, in: schema.fields) else {
        throw Refusal(.unknownField)
      }
      let isKey = schema.key.contains { FuzzValue.isSameName($0, assignment.field) }
      guard !isKey, FuzzValue.isValid(assignment.value, schema.fields[position]) else {
        throw Refusal(.invalidRequest)
      }
      places.append(position)
    }
    let rows = try rows(query, schemas)
    for var row in rows {
      for (position, assignment) in zip(places, assignments) { row[position] = assignment.value }
      try write(row, in: schema, .present)
    }
    return rows.count
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

extension FuzzValue {
  /// Returns whether a value is valid for a field.
  static func isValid(_ value: PersistentValue, _ field: FieldSchema) -> Bool {
    if value.isNull { return field.isOptional }
    guard value.tag == field.kind.tag else { return false }
    if case .double(let number) = value { return field.kind.canRepresent(number) }
    guard case .integer(let number) = value else { return true }
    return switch field.kind {
    case .int8: Int8(exactly: number) != nil
    case .int16: Int16(exactly: number) != nil
    case .int32: Int32(exactly: number) != nil
    case .uint8: UInt8(exactly: number) != nil
    case .uint16: UInt16(exactly: number) != nil
    case .uint32: UInt32(exactly: number) != nil
    default: true
    }
  }
}
