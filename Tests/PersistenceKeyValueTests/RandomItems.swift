import Foundation
import PersistenceConformance
import PersistenceDriver

/// Random records of one model, and random requests that often use its indexes.
final class RandomItems {
  let schema: ModelSchema
  var random: RandomValues

  init(seed: UInt64) throws {
    schema = try ModelSchema(
      name: "Item",
      fields: [
        FieldSchema("b", .bool), FieldSchema("s", .string, isOptional: true), FieldSchema("id", .string),
        FieldSchema("n", .int64, isOptional: true), FieldSchema("d", .double),
        FieldSchema("c", .decimal, isOptional: true), FieldSchema("x", .data), FieldSchema("part", .int64),
        FieldSchema("u", .string, isOptional: true),
      ],
      key: ["part", "id"],
      indexes: [
        IndexSchema(["n"]), IndexSchema(["s"]), IndexSchema(["s", "n"]), IndexSchema(["b", "d"]),
        IndexSchema(["c"]), IndexSchema(["id"]), IndexSchema(["n", "part", "s"]), IndexSchema(["x"]),
        IndexSchema(["u"], isUnique: true),
      ])
    random = RandomValues(seed: seed)
  }

  /// Short texts, and long ones whose cut keys have the same beginning.
  func text() -> String {
    let long = String(repeating: "long ", count: random.random.pick([0, 0, 5, 13, 20, 30]))
    return long + random.random.pick(["", "a", "a\0", "b", "\u{10FFFF}", random.random.text(0...2)])
  }

  func value(_ field: FieldSchema) -> PersistentValue {
    if field.isOptional, random.random.oneIn(4) { return .null }
    switch field.name {
    case "part": return .integer(Int64(random.random.int(0...1)))
    case "n": return .integer(Int64(random.random.int(0...6)))
    case "d":
      return PersistentValue.double(random.random.pick([0, 1, 2, .nan, -.infinity, .infinity])).normalized
    case "c": return .decimal(random.random.pick([0, 1, -1, 2.5, .nan]))
    case "x":
      return .bytes(
        [UInt8](repeating: 0xFF, count: random.random.pick([0, 1, 70, 100, 140])) + random.bytes())
    case "b": return .bool(random.random.oneIn(2))
    default: return .text(text())
    }
  }

  func condition(_ depth: Int = 0) -> PredicateNode {
    let field = random.random.pick(schema.fields)
    switch random.random.int(0...(depth < 2 ? 11 : 7)) {
    case 0, 1, 2:
      return .comparison(field: field.name, random.random.pick(ComparisonOperator.allCases), value(field))
    case 3: return .isIn(field: field.name, (0..<random.random.int(0...3)).map { _ in value(field) })
    case 4: return .isBetween(field: field.name, lower: value(field), upper: value(field))
    case 5, 6: return .comparison(field: field.name, .equal, value(field))
    case 7:
      let name = random.random.pick(["s", "id", "u"])
      return .text(
        field: name, .hasPrefix, String(text().prefix(70)), isCaseInsensitive: random.random.oneIn(4))
    case 8, 9, 10: return .all((0..<random.random.int(1...3)).map { _ in condition(depth + 1) })
    default:
      return random.random.oneIn(2)
        ? .any((0..<random.random.int(0...3)).map { _ in condition(depth + 1) })
        : .not(condition(depth + 1))
    }
  }

  func request() throws -> FetchRequest {
    let orders: [[FieldOrder]] = schema.orders.map { index in
      let isDescending = random.random.oneIn(2)
      return index.map { FieldOrder($0, isDescending: isDescending) }
    }
    var order = random.random.oneIn(3) ? [] : random.random.pick(orders)
    if random.random.oneIn(3), let last = order.indices.last { order[last].isDescending.toggle() }
    if random.random.oneIn(4) { order = Array(order.prefix(1)) }
    let predicate = random.random.oneIn(5) ? nil : condition()
    let limit = random.random.oneIn(3) ? random.random.int(0...20) : nil
    let offset = random.random.oneIn(4) ? random.random.int(0...10) : 0
    let plain = try FetchRequest(schema, where: predicate, order: order, limit: limit, offset: offset)
    guard random.random.oneIn(3) else { return plain }
    let anchor = plain.totalOrder.compactMap { schema.field(named: $0.field) }.map(value)
    return try FetchRequest(
      schema, where: predicate, order: order, limit: limit, offset: offset, after: PageAnchor(anchor))
  }

  /// A random selection of fields, which may repeat one.
  func selection() -> [Int] {
    let index = random.random.pick(schema.orders).compactMap { schema.position(of: $0) }
    guard random.random.oneIn(2) else { return index }
    return index + (0..<random.random.int(0...2)).map { _ in random.random.int(0...schema.fields.count - 1) }
  }

  /// A random aggregation of a request's rows.
  func aggregates(over rows: FetchRequest) throws -> AggregateRequest {
    let ordered = schema.fields.filter(\.kind.isOrdered).map(\.name)
    let numbers = schema.fields.filter(\.kind.isNumber).map(\.name)
    let grouping =
      random.random.oneIn(2)
      ? [] : Array(random.random.pick(schema.orders).prefix(2).shuffled(using: &random.random))
    let aggregates = (0..<random.random.int(0...3)).map { _ -> Aggregate in
      switch random.random.int(0...5) {
      case 0, 1: .count
      case 2: .minimum(of: random.random.pick(ordered))
      case 3: .maximum(of: random.random.pick(ordered))
      case 4: .sum(of: random.random.pick(numbers))
      default: .average(of: random.random.pick(numbers))
      }
    }
    return try AggregateRequest(rows, grouping: grouping, aggregates: aggregates)
  }

  /// A random update of a request's rows.
  func update(of rows: FetchRequest) throws -> UpdateRequest {
    let fields = schema.fields.filter { field in !schema.key.contains(field.name) }
    let set = (0..<random.random.int(1...2)).map { _ in
      let field = random.random.pick(fields)
      return FieldAssignment(field.name, value(field))
    }
    return try UpdateRequest(rows, set: set)
  }
}

extension ModelSchema {
  /// The fields of every index and of the key, as orders to request.
  var orders: [[String]] { indexes.map(\.fields) + [key, ["d"], ["b", "s"]] }
}
