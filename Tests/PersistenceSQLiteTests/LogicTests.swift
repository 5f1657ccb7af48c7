import Foundation
import PersistenceConformance
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQLite
import Testing

/// Compares SQL's results with the evaluator's, for every operator and every kind of value.
@Suite struct LogicTests {
  let scratch: Scratch
  let context: SQLiteContext
  let schema: ModelSchema
  let rows: [[PersistentValue]]

  init() throws {
    scratch = try Scratch()
    context = try scratch.open()
    schema = try Fixtures.everything()
    var random = SeededGenerator(seed: 20_240_601)
    var rows: [[PersistentValue]] = []
    for id in 0..<160 { rows.append(Fixtures.row(id, schema, &random)) }
    self.rows = rows
    try context.fill(schema, rows)
  }

  private func keys(_ request: FetchRequest, in reader: any StorageReader) throws -> [Int64] {
    try reader.values(request).map(Fixtures.id)
  }

  private func expect(_ predicate: PredicateNode, _ location: SourceLocation = #_sourceLocation) throws {
    let request = try FetchRequest(schema, where: predicate)
    let compiled = try CompiledPredicate(request.predicate, in: schema)
    let buffer = RowBuffer(count: schema.fields.count)
    let expected = try rows.filter { row in
      buffer.set(row)
      return try buffer.withRow { try compiled.matches($0) }
    }
    let ids = expected.map(Fixtures.id).sorted()
    #expect(try keys(request, in: context) == ids, "\(predicate)", sourceLocation: location)
    #expect(try context.count(request) == ids.count, "\(predicate)", sourceLocation: location)
  }

  @Test("V6 every comparison with values and nil, and its negation, equals the evaluator")
  func comparisons() throws {
    var random = SeededGenerator(seed: 7)
    for field in schema.fields {
      for comparison in ComparisonOperator.allCases where !comparison.isOrdering || field.kind.isOrdered {
        for attempt in 0..<6 {
          let value = attempt == 0 ? .null : Fixtures.value(field.kind, optional: false, &random)
          let node = PredicateNode.comparison(field: field.name, comparison, value)
          try expect(node)
          try expect(.not(node))
        }
      }
    }
  }

  @Test("V6 in and between, with nil and NaN among the values, and their negations")
  func lists() throws {
    var random = SeededGenerator(seed: 8)
    for field in schema.fields {
      for count in [0, 1, 3] {
        let values = (0..<count).map { _ in Fixtures.value(field.kind, optional: true, &random) }
        try expect(.isIn(field: field.name, values))
        try expect(.not(.isIn(field: field.name, values)))
      }
      guard field.kind.isOrdered else { continue }
      for _ in 0..<4 {
        let lower = Fixtures.value(field.kind, optional: true, &random)
        let upper = Fixtures.value(field.kind, optional: true, &random)
        try expect(.isBetween(field: field.name, lower: lower, upper: upper))
        try expect(.not(.isBetween(field: field.name, lower: lower, upper: upper)))
      }
    }
  }

  @Test("V6 comparisons between fields")
  func fieldComparisons() throws {
    for kind in [FieldKind.int64, .double, .string, .decimal, .date, .uuid, .data, .bool, .document] {
      for comparison in ComparisonOperator.allCases where !comparison.isOrdering || kind.isOrdered {
        let node = PredicateNode.fieldComparison(
          left: kind.rawValue, comparison, right: kind.rawValue + "2")
        try expect(node)
        try expect(.not(node))
      }
    }
    try expect(.fieldComparison(left: "float", .less, right: "double"))
    try expect(.fieldComparison(left: "string", .equal, right: "url"))
    try expect(.not(.fieldComparison(left: "int8", .greater, right: "uint32")))
  }

  @Test("V7 text searches, with U+0000, wildcards and case, and their negations")
  func texts() throws {
    let needles = [
      "", "a", "A", "a\u{0}", "\u{0}b", "%", "_", "é", "e", "É", "\u{10FFFF}", "\u{D7FF}", "zeb", "😀",
    ]
    for field in ["string", "url"] {
      for search in [TextOperator.contains, .hasPrefix, .hasSuffix] {
        for needle in needles {
          for isCaseInsensitive in [false, true] {
            let node = PredicateNode.text(
              field: field, search, needle, isCaseInsensitive: isCaseInsensitive)
            try expect(node)
            try expect(.not(node))
          }
        }
      }
      for pattern in ["a%", "%b", "a_b", "%", "a\\%b", "_"] {
        try expect(.text(field: field, .like, pattern, isCaseInsensitive: false))
        try expect(.not(.text(field: field, .like, pattern, isCaseInsensitive: true)))
      }
      for pattern in ["^a.*b$", "[a-z]+", "é|z"] {
        try expect(.text(field: field, .matches, pattern, isCaseInsensitive: false))
        try expect(.not(.text(field: field, .matches, pattern, isCaseInsensitive: true)))
      }
    }
  }

  @Test("V6 random trees equal the evaluator, and p and !p together match every row")
  func trees() throws {
    var random = SeededGenerator(seed: 99)
    for _ in 0..<400 {
      let node = Fixtures.predicate(schema, depth: 4, &random)
      try expect(node)
      let found = try context.count(FetchRequest(schema, where: node))
      let others = try context.count(FetchRequest(schema, where: .not(node)))
      #expect(found + others == rows.count, "\(node)")
    }
  }

  @Test("O2 O3 every order equals the reference, with limit, offset and anchor")
  func orders() throws {
    let reference = MemoryContext()
    try reference.fill(schema, rows)
    var random = SeededGenerator(seed: 4)
    let fields = schema.fields.filter(\.kind.isOrdered).map(\.name)
    for number in 0..<300 {
      let order = (0..<Int.random(in: 0...3, using: &random)).map { _ in
        FieldOrder(
          fields[Int.random(in: 0..<fields.count, using: &random)], isDescending: Bool.random(using: &random))
      }
      let predicate = number % 3 == 0 ? Fixtures.predicate(schema, depth: 2, &random) : nil
      let all = try FetchRequest(schema, where: predicate, order: order)
      let sorted = try reference.values(all)
      #expect(try context.values(all) == sorted, "\(all)")
      guard !sorted.isEmpty else { continue }
      let row = sorted[Int.random(in: 0..<sorted.count, using: &random)]
      let anchor = PageAnchor(all.totalOrder.map { row[schema.position(of: $0.field) ?? 0] })
      let page = try FetchRequest(
        schema, where: predicate, order: order, limit: Int.random(in: 0...20, using: &random),
        offset: Int.random(in: 0...5, using: &random), after: number % 2 == 0 ? anchor : nil)
      let expected = try reference.values(page)
      #expect(try context.values(page) == expected, "\(page)")
      #expect(try context.count(page) == expected.count, "\(page)")
      // The same in small pages, and from the end.
      let results = try context.fetch(page)
      var pages: [[PersistentValue]] = []
      while try results.read(from: pages.count, limit: 3, { pages.append(try $0.values()) }) == 3 {}
      #expect(pages == expected, "\(page)")
      if let last = expected.last {
        var found: [PersistentValue]?
        let fresh = try context.fetch(page)
        #expect(try fresh.read(from: expected.count - 1, limit: 5) { found = try $0.values() } == 1)
        #expect(found == last)
        #expect(try fresh.count() == expected.count)
      }
    }
  }
}

extension Fixtures {
  static func row(_ id: Int, _ schema: ModelSchema, _ random: inout SeededGenerator) -> [PersistentValue] {
    var row: [PersistentValue] = [.integer(Int64(id))]
    for field in schema.fields.dropFirst() { row.append(value(field.kind, optional: true, &random)) }
    return row
  }

  /// The key of a row; −1 if it is not an integer.
  static func id(_ row: [PersistentValue]) -> Int64 {
    if case .integer(let id) = row[0] { id } else { -1 }
  }

  /// A random condition.
  static func predicate(_ schema: ModelSchema, depth: Int, _ random: inout SeededGenerator) -> PredicateNode {
    let field = schema.fields[Int.random(in: 0..<schema.fields.count, using: &random)]
    let choice = Int.random(in: 0..<(depth > 0 ? 10 : 6), using: &random)
    switch choice {
    case 0: return .constant(Bool.random(using: &random))
    case 1, 2:
      let all = ComparisonOperator.allCases.filter { !$0.isOrdering || field.kind.isOrdered }
      return .comparison(
        field: field.name, all[Int.random(in: 0..<all.count, using: &random)],
        value(field.kind, optional: true, &random))
    case 3:
      return .isIn(
        field: field.name,
        (0..<Int.random(in: 0...4, using: &random)).map { _ in
          value(field.kind, optional: true, &random)
        })
    case 4:
      return .text(
        field: "string", [.contains, .hasPrefix, .hasSuffix, .like][Int.random(in: 0..<4, using: &random)],
        ["a", "A", "", "é", "\u{0}"][Int.random(in: 0..<5, using: &random)],
        isCaseInsensitive: Bool.random(using: &random))
    case 5:
      guard field.kind.isOrdered else { return .constant(true) }
      return .isBetween(
        field: field.name, lower: value(field.kind, optional: true, &random),
        upper: value(field.kind, optional: true, &random))
    case 6, 7:
      return .all(
        (0..<Int.random(in: 0...4, using: &random)).map { _ in predicate(schema, depth: depth - 1, &random) })
    case 8:
      return .any(
        (0..<Int.random(in: 0...4, using: &random)).map { _ in predicate(schema, depth: depth - 1, &random) })
    default: return .not(predicate(schema, depth: depth - 1, &random))
    }
  }
}
