import Foundation
import PersistenceCore

/// Steps with fields: selections, aggregates and bulk updates.
extension FuzzGenerator {
  /// A selection: no field, all fields, a repeated field, and sometimes invalid positions.
  mutating func select(_ model: Int) -> FuzzStep {
    let count = models[model].schema.fields.count
    let size = weighted([(10, 0), (25, 1), (45, random.int(2...count + 1)), (20, count)])
    var positions = (0..<size).map { _ in random.int(0...count - 1) }
    if chance(4) { positions.append(random.pick([-1, count, Int.max, Int.min])) }
    return .select(query(model), positions: positions, snapshot: snapshot())
  }

  mutating func aggregate(_ model: Int) -> FuzzStep {
    let fields = models[model].schema.fields
    let ordered = fields.filter(\.kind.isOrdered)
    let numbers = fields.filter(\.kind.isNumber)
    let depth = weighted([(40, 0), (40, 1), (20, 2)])
    var grouping = (0..<depth).map { _ in random.pick(ordered).name }
    var aggregates: [Aggregate] = []
    for _ in 0..<weighted([(8, 0), (30, 1), (30, 2), (32, 4)]) {
      let field = random.pick(ordered).name
      switch random.int(0...9) {
      case 0: aggregates.append(.count)
      case 1, 2: aggregates.append(.minimum(of: field))
      case 3, 4: aggregates.append(.maximum(of: field))
      default:
        guard !numbers.isEmpty else { continue }
        let number = random.pick(numbers).name
        aggregates.append(chance(50) ? .sum(of: number) : .average(of: number))
      }
    }
    if chance(5) {
      let any = random.pick(fields).name
      switch random.int(0...4) {
      case 0: grouping.append("no such field")
      case 1: aggregates.append(.sum(of: "no such field"))
      case 2: grouping.append(fields.first { !$0.kind.isOrdered }?.name ?? any)
      case 3: aggregates.append(.minimum(of: fields.first { !$0.kind.isOrdered }?.name ?? any))
      default: aggregates.append(.average(of: fields.first { !$0.kind.isNumber }?.name ?? any))
      }
    }
    return .aggregate(query(model), by: grouping, aggregates, snapshot: snapshot())
  }

  mutating func updateRows(_ model: Int) -> FuzzStep {
    let schema = models[model].schema
    let query = query(model)
    let others = schema.fields.indices.filter { position in
      !schema.key.contains { FuzzValue.isSameName($0, schema.fields[position].name) }
    }
    // Fields in the filter or the order are set as often as others.
    let named = query.order.compactMap { FuzzReference.position(of: $0.field, in: schema.fields) }
      .filter(others.contains)
    let unique = schema.indexes.filter(\.isUnique).flatMap(\.fields)
      .compactMap { FuzzReference.position(of: $0, in: schema.fields) }.filter(others.contains)
    var assignments: [FieldAssignment] = []
    for _ in 0..<weighted([(55, 1), (30, 2), (15, 3)]) where !others.isEmpty {
      let position = random.pick(
        !named.isEmpty && chance(40) ? named : !unique.isEmpty && chance(30) ? unique : others)
      assignments.append(FieldAssignment(schema.fields[position].name, value(model, position)))
    }
    if chance(6) {
      let field = random.pick(schema.fields)
      switch random.int(0...4) {
      case 0: assignments = []
      case 1: assignments.append(FieldAssignment("no such field", .null))
      case 2: assignments.append(FieldAssignment(random.pick(schema.key), .integer(1)))
      case 3: assignments.append(FieldAssignment(field.name, invalidValue(field)))
      default: assignments.append(FieldAssignment(field.name, .null))
      }
    }
    return .updateRows(query, set: assignments)
  }

  mutating func written(_ model: Int) -> [PersistentValue] {
    var row = row(model)
    guard chance(3) else { return row }
    let fields = models[model].schema.fields
    let position = random.int(0...fields.count - 1)
    switch random.int(0...9) {
    case 0: row.removeLast()
    case 1: row.append(.null)
    default: row[position] = invalidValue(fields[position])
    }
    return row
  }

  /// A value that is invalid for a field.
  mutating func invalidValue(_ field: FieldSchema) -> PersistentValue {
    if !field.isOptional, chance(40) { return .null }
    if let range = field.kind.integerRange, field.kind != .int64, chance(70) {
      return .integer(random.pick([range.lowerBound - 1, range.upperBound + 1, .min, .max]))
    }
    let values: [PersistentValue] = [
      .bool(true), .integer(1), .double(1), .text("1"), .bytes([1]), .date(1), Self.id(1), .decimal(1),
      .document("1"),
    ]
    return random.pick(values.filter { $0.tag != field.kind.tag })
  }

  private mutating func snapshot() -> Int? { chance(15) ? random.int(0...2) : nil }
}
