import PersistenceDriver
import Testing

/// Equality of requests, which compares names and texts by their bytes (contract V3).
struct RequestEqualityTests {
  private static let composed = "\u{E9}"
  private static let decomposed = "e\u{301}"

  private static func nodes(_ name: String, _ text: String) -> [PredicateNode] {
    [
      .constant(true), .constant(false), .comparison(field: name, .equal, .text(text)),
      .comparison(field: name, .notEqual, .text(text)),
      .fieldComparison(left: name, .equal, right: "b"), .fieldComparison(left: "b", .equal, right: name),
      .isIn(field: name, [.text(text), .null]),
      .isBetween(field: name, lower: .text("a"), upper: .text(text)),
      .isBetween(field: name, lower: .text(text), upper: .text("a")),
      .text(field: name, .contains, text, isCaseInsensitive: false),
      .text(field: name, .contains, text, isCaseInsensitive: true),
      .text(field: name, .hasPrefix, text, isCaseInsensitive: false),
    ]
  }

  @Test("identical conditions are equal and have equal hashes")
  func same() {
    let nodes = Self.nodes("f", "x") + Self.nodes("f", "y").dropFirst(2)
    for (place, node) in nodes.enumerated() {
      for (other, second) in nodes.enumerated() {
        // Both lists have the conditions without a text.
        let isSame = place == other || (place + 10 == other || other + 10 == place) && node == second
        #expect((node == second) == isSame, "\(node) and \(second)")
        if node == second { #expect(node.hashValue == second.hashValue) }
      }
      #expect(PredicateNode.not(node) == PredicateNode.not(node) && PredicateNode.not(node) != node)
      #expect(PredicateNode.all([node]) == PredicateNode.all([node]))
      #expect(PredicateNode.all([node]) != PredicateNode.any([node]))
    }
    #expect(Set(nodes).count == nodes.count - 2)
  }

  @Test("V3 the two normal forms of é are different names and texts in every part of a request")
  func canonicalEquivalents() throws {
    #expect(Self.composed == Self.decomposed, "Swift's string equality considers them equal")
    for (one, other) in zip(Self.nodes(Self.composed, "x"), Self.nodes(Self.decomposed, "x")).dropFirst(2) {
      #expect(one != other, "\(one)")
    }
    for (one, other) in zip(Self.nodes("f", Self.composed), Self.nodes("f", Self.decomposed)).dropFirst(2) {
      guard one.description.contains("'") else { continue }
      #expect(one != other, "\(one)")
      #expect(PredicateNode.not(.any([one])) != PredicateNode.not(.any([other])), "\(one)")
    }
    let fields =
      [FieldSchema("id", .int64)] + [Self.composed, Self.decomposed].map { FieldSchema($0, .int64) }
    let schema = try ModelSchema(name: "M", fields: fields, key: ["id"])
    let rows = try FetchRequest(schema)
    func expectDifferent<Request: Hashable>(_ make: (String) throws -> Request) throws {
      let (one, other) = (try make(Self.composed), try make(Self.decomposed))
      #expect(one != other, "\(one)")
      #expect(Set([one, other, one]).count == 2)
      #expect(try one == make(Self.composed))
    }
    try expectDifferent { FieldOrder($0) }
    try expectDifferent { FieldOrder($0, isDescending: true) }
    try expectDifferent { FieldAssignment($0, .integer(1)) }
    try expectDifferent { try FetchRequest(schema, order: [FieldOrder($0)]) }
    try expectDifferent { try FetchRequest(schema, where: .comparison(field: $0, .equal, .integer(1))) }
    try expectDifferent { try UpdateRequest(rows, set: [FieldAssignment($0, .integer(1))]) }
    try expectDifferent { try AggregateRequest(rows, grouping: [$0], aggregates: []) }
    for aggregate in [Aggregate.minimum, Aggregate.maximum, Aggregate.sum, Aggregate.average] {
      try expectDifferent { try AggregateRequest(rows, aggregates: [aggregate($0)]) }
    }
    #expect(Aggregate.sum(of: "b") != .average(of: "b") && Aggregate.count == .count)
  }

  @Test("the order and repetition of values in a list do not matter")
  func lists() throws {
    let schema = try ModelSchema(
      name: "M", fields: [FieldSchema("id", .int64), FieldSchema("d", .double, isOptional: true)], key: ["id"]
    )
    func request(_ values: [PersistentValue], _ field: String = "d") throws -> FetchRequest {
      try FetchRequest(schema, where: .isIn(field: field, values))
    }
    let listed = try request([.double(.nan), .double(2), .double(-0.0), .double(1), .double(2), .double(0)])
    #expect(listed.predicate == .isIn(field: "d", [.double(0), .double(1), .double(2), .double(.nan)]))
    #expect(try listed == request([.double(0), .double(1), .double(2), .double(.nan)]))
    #expect(
      try request([.null, .double(2), .double(1), .null]).predicate
        == .any([.isIn(field: "d", [.double(1), .double(2)]), .comparison(field: "d", .equal, .null)]))
    let numbers = (0..<10_000).map { PersistentValue.integer(Int64($0 * 7_919 % 10_007)) }
    #expect(try request(numbers, "id").predicate == .isIn(field: "id", numbers.sorted()))
  }
}
