import Foundation
import PersistenceDriver
import Testing
import PersistenceDriverSupport

/// Requests: validation, total order and anchors (contract O2, O4, E3, V6, V7).
struct FetchRequestTests {
  static let schema = Result {
    try ModelSchema(
      name: "M",
      fields: [
        FieldSchema("id", .int64), FieldSchema("a", .string, isOptional: true), FieldSchema("b", .double),
        FieldSchema("d", .document), FieldSchema("n", .int32, isOptional: true),
      ], key: ["id"])
  }

  private func code(_ predicate: PredicateNode) -> PersistenceError.Code? {
    do {
      _ = try FetchRequest(Self.schema.get(), where: predicate)
      return nil
    } catch { return (error as? PersistenceError)?.code }
  }

  @Test("E3 the error names an unknown field in any part of a request")
  func unknownFields() throws {
    let unknown = PredicateNode.comparison(field: "zz", .equal, .null)
    #expect(code(unknown) == .unknownField)
    #expect(code(.not(.any([.constant(true), .all([unknown])]))) == .unknownField)
    #expect(code(.fieldComparison(left: "id", .equal, right: "zz")) == .unknownField)
    let schema = try Self.schema.get()
    #expect(throws: PersistenceError.self) { try FetchRequest(schema, order: [FieldOrder("zz")]) }
  }

  @Test("V4a V7 an operation that a kind does not support is rejected before a context gets it")
  func refusals() throws {
    let schema = try Self.schema.get()
    #expect(code(.comparison(field: "id", .equal, .text("1"))) == .invalidRequest)
    #expect(code(.comparison(field: "d", .less, .document("1"))) == .invalidRequest)
    #expect(code(.comparison(field: "d", .equal, .document("1"))) == nil)
    #expect(code(.isBetween(field: "b", lower: .integer(1), upper: .double(2))) == .invalidRequest)
    #expect(code(.text(field: "id", .contains, "1", isCaseInsensitive: false)) == .invalidRequest)
    #expect(code(.text(field: "a", .matches, "(", isCaseInsensitive: false)) == .invalidRequest)
    #expect(code(.fieldComparison(left: "id", .less, right: "n")) == nil)
    #expect(code(.fieldComparison(left: "id", .less, right: "b")) == .invalidRequest)
    #expect(throws: PersistenceError.self) { try FetchRequest(schema, order: [FieldOrder("d")]) }
    #expect(throws: PersistenceError.self) { try FetchRequest(schema, limit: -1) }
    #expect(throws: PersistenceError.self) { try FetchRequest(schema, offset: -1) }
    #expect(throws: PersistenceError.self) { try FetchRequest(schema, after: PageAnchor([])) }
    #expect(throws: PersistenceError.self) { try FetchRequest(schema, after: PageAnchor([.null])) }
    var deep = PredicateNode.constant(true)
    for _ in 0..<10_000 { deep = .not(deep) }
    #expect(code(deep) == .invalidRequest)
  }

  @Test("O2 ties are broken by the key, in the direction of the last criterion")
  func totalOrder() throws {
    let schema = try Self.schema.get()
    func order(_ fields: FieldOrder...) throws -> [String] {
      try FetchRequest(schema, order: fields).totalOrder.map { "\($0)" }
    }
    #expect(try order() == ["id"])
    #expect(try order(FieldOrder("a"), FieldOrder("b", isDescending: true)) == ["a", "-b", "-id"])
    #expect(try order(FieldOrder("id", isDescending: true), FieldOrder("a")) == ["-id", "a"])
    #expect(try order(FieldOrder("a"), FieldOrder("a", isDescending: true)) == ["a", "id"])
  }

  @Test("O3 O4 the anchor's condition holds exactly for the rows after it")
  func anchors() throws {
    let schema = try Self.schema.get()
    let row = RowBuffer(count: 5)
    var rows: [[PersistentValue]] = []
    var id: Int64 = 0
    for a in [PersistentValue.null, .text(""), .text("x")] {
      for b in [Double.nan, 1, -Double.infinity] {
        for n in [PersistentValue.null, .integer(0), .integer(1)] {
          rows.append([.integer(id), a, .double(b), .document("1"), n])
          id += 1
        }
      }
    }
    for directions in 0..<8 {
      let order = [
        FieldOrder("a", isDescending: directions & 1 > 0), FieldOrder("n", isDescending: directions & 2 > 0),
        FieldOrder("b", isDescending: directions & 4 > 0),
      ]
      let total = try FetchRequest(schema, order: order).totalOrder
      let comparator = try RowOrder(total, in: schema)
      func key(_ values: [PersistentValue]) throws -> [PersistentValue] {
        row.set(values)
        return try row.withRow { try comparator.key(of: $0) }
      }
      for anchor in rows {
        let request = try FetchRequest(schema, order: order, after: PageAnchor(key(anchor)))
        let predicate = try CompiledPredicate(request.predicateWithAnchor, in: schema)
        for other in rows {
          let isAfter = try comparator.compare(key(anchor), key(other)) < 0
          row.set(other)
          #expect(try row.withRow { try predicate.matches($0) } == isAfter)
        }
      }
    }
  }

  @Test("V6 a predicate survives encoding and decoding, and has a readable description")
  func coding() throws {
    let node = PredicateNode.all([
      .not(.comparison(field: "a", .equal, .text("it's"))), .isIn(field: "n", [.integer(1)]),
      .any([.isBetween(field: "b", lower: .double(.nan), upper: .double(.infinity)), .constant(false)]),
      .text(field: "a", .like, "%x\\_", isCaseInsensitive: true),
      .fieldComparison(left: "id", .greaterOrEqual, right: "n"),
    ])
    let data = try JSONEncoder().encode(node)
    #expect(try JSONDecoder().decode(PredicateNode.self, from: data) == node)
    #expect(
      node.description
        == "(!(a == 'it''s') && n in [1] && (b between nan and inf || false) && like(a, '%x\\_', "
        + "caseInsensitive) && id >= n)")
    #expect(!node.shape.contains("it'") && !node.shape.contains("nan"))
    #expect(node.fields == ["a", "n", "b", "id"])
  }
}
