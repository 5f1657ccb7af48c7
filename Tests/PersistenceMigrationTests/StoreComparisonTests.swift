import Foundation
import MigrationStores
import PersistenceDriver
import PersistenceMigration
import Testing
import PersistenceDriverSupport

@Suite("Comparison of two stores")
struct StoreComparisonTests {
  private func twins(pairCount: Int = 600) throws -> (MemoryContext, MemoryContext) {
    let (left, right) = (MemoryContext(), MemoryContext())
    try SampleStores.fill(left, pairCount: pairCount)
    try SampleStores.fill(right, pairCount: pairCount)
    return (left, right)
  }

  private func model(_ name: String, _ report: ComparisonReport) throws -> ComparisonReport.Model {
    try #require(report.models.first { $0.name == name })
  }

  @Test("Reports a changed value by key and field")
  func changedValue() throws {
    let (left, right) = try twins()
    var row = try SampleStores.rows()[1]
    row[1] = .bool(false)
    try SampleStores.save(row, SampleStores.everyKind(), in: right)
    let report = try StoreComparison(left, right).run()
    #expect(!report.isEqual)
    let kinds = try model("every/kind é", report)
    #expect((kinds.unchanged, kinds.changed, kinds.onlyLeft, kinds.onlyRight) == (4, 1, 0, 0))
    #expect(kinds.differences.map(\.key) == [RecordKey([.text("a\0b")])])
    #expect(
      kinds.differences[0].fields.map { [$0.name, $0.left, $0.right] } == [["bool field", "true", "false"]])
    #expect(try model("Pair", report).isEqual)
  }

  @Test("Reports a missing and an additional record", arguments: [0, 299, 599])
  func missingAndExtra(number: Int) throws {
    let (left, right) = try twins()
    let pairs = try SampleStores.pairs()
    let key = RecordKey([.integer(Int64(number % 7)), .uuid(SampleStores.uuid(number))])
    try right.transaction { _ = try $0.delete(key, in: pairs) }
    try SampleStores.save([.integer(99), .uuid(SampleStores.uuid(1)), .double(1)], pairs, in: right)
    let found = try model("Pair", StoreComparison(left, right).run())
    #expect((found.unchanged, found.onlyLeft, found.onlyRight, found.changed) == (599, 1, 1, 0))
    #expect(found.differences.map(\.kind) == [.onlyLeft, .onlyRight])
    #expect(found.differences.map(\.key) == [key, RecordKey([.integer(99), .uuid(SampleStores.uuid(1))])])
    #expect(found.left?.count == 600)
    #expect(found.left?.digest != found.right?.digest)
  }

  @Test("Counts all differences and reports a limited number")
  func bounded() throws {
    let (left, right) = try twins()
    try right.transaction { _ = try $0.deleteAll(in: SampleStores.pairs()) }
    let found = try model("Pair", StoreComparison(left, right, differenceLimit: 5).run())
    #expect(found.onlyLeft == 600)
    #expect(found.differences.count == 5)
  }

  @Test("Reports a model that only one store has, on either side")
  func oneSided() throws {
    let (left, right) = try twins()
    let other = try ModelSchema(name: "Other", fields: [FieldSchema("id", .int64)], key: ["id"])
    try SampleStores.save([.integer(1)], other, in: right)
    #expect(try model("Other", StoreComparison(left, right).run()).presence == .onlyRight)
    #expect(try model("Other", StoreComparison(right, left).run()).presence == .onlyLeft)
    #expect(try !StoreComparison(left, right).run().isEqual)
  }

  @Test("Reports schema differences and compares records by their common fields")
  func schemas() throws {
    func store(_ fields: [FieldSchema], _ row: [PersistentValue], key: String = "id") throws -> MemoryContext
    {
      let store = MemoryContext()
      try SampleStores.save(row, ModelSchema(name: "M", fields: fields, key: [key]), in: store)
      return store
    }
    let (id, name) = (FieldSchema("id", .int64), FieldSchema("name", .string))
    let left = try store([id, name], [.integer(1), .text("a")])
    let wider = try store([id, name, FieldSchema("x", .bool)], [.integer(1), .text("a"), .bool(true)])
    let found = try model("M", StoreComparison(left, wider).run())
    #expect(!found.isEqual)
    #expect(found.schemaDifferences == ["x: right bool, not in the left store"])
    #expect(found.unchanged == 1)
    let rekeyed = try store([id, name], [.integer(1), .text("a")], key: "name")
    let apart = try model("M", StoreComparison(left, rekeyed).run())
    #expect(!apart.isComparedByKey)
    #expect(apart.left == apart.right)
    #expect(!apart.isEqual)
  }

  @Test("Shortens long values to the part that differs")
  func longValues() throws {
    let (left, right) = try twins()
    var row = try SampleStores.rows()[4]
    let position = try #require(SampleStores.everyKind().position(of: "string field"))
    row[position] = .text(String(repeating: "long ", count: 3999) + "lang ")
    try SampleStores.save(row, SampleStores.everyKind(), in: right)
    let difference = try #require(
      try model("every/kind é", StoreComparison(left, right).run()).differences.first)
    let field = try #require(difference.fields.first)
    #expect(field.left.contains("long ") && field.right.contains("lang "))
    #expect(field.left.utf8.count < 200)
  }
}
