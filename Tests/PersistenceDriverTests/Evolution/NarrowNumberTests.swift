import PersistenceDriver
import PersistenceDriverSupport
import Testing

/// A newer declaration writes to fields that are still narrower in the store (contract S4).
@Suite("Numbers of a wider kind")
struct NarrowNumberTests {
  private let context = MemoryContext()
  private let fits = SchemaFits(location: "")
  private let wider: ModelSchema

  init() throws {
    func schema(_ kinds: FieldKind...) throws -> ModelSchema {
      try ModelSchema(
        name: "Reading",
        fields: [FieldSchema("id", .int64), FieldSchema("value", kinds[0]), FieldSchema("count", kinds[1])],
        key: ["id"])
    }
    let narrow = try schema(.float, .int8)
    wider = try schema(.double, .int64)
    try context.transaction { try $0.define(narrow) }
  }

  private func save(_ id: Int64, _ value: Double, _ count: Int64) throws {
    let row = RowBuffer(count: 3)
    row.set([.integer(id), .double(value), .integer(count)])
    try context.transaction { transaction in
      let fitted = FittedTransaction(transaction, fits)
      try row.withRow { try fitted.save($0, in: wider) }
    }
  }

  private func set(_ value: Double) throws -> Int {
    let request = try UpdateRequest(FetchRequest(wider), set: [FieldAssignment("value", .double(value))])
    var count = 0
    try context.transaction { count = try FittedTransaction($0, fits).update(request) }
    return count
  }

  @Test(
    "S4 numbers that the stored kind represents are kept exactly", arguments: [0.5, -0.0, .infinity, .nan])
  func kept(value: Double) throws {
    try save(1, value, 127)
    var found: PersistentValue?
    _ = try FittedContext(context, fits).find(RecordKey([.integer(1)]), in: wider) {
      found = try $0.value(at: 1)
    }
    #expect(found == PersistentValue.double(value).normalized)
    #expect(try set(0.25) == 1)
  }

  @Test("S4 others are refused, and change nothing", arguments: [(0.1, 1), (1e300, 1), (0.5, 128)])
  func refused(value: Double, count: Int64) throws {
    try save(1, 0.5, 1)
    #expect { try save(1, value, count) } throws: { error in
      (error as? PersistenceError)?.code == .invalidRequest
    }
    if count == 1 {
      #expect { try set(value) } throws: { ($0 as? PersistenceError)?.code == .invalidRequest }
    }
    var found: [PersistentValue] = []
    _ = try FittedContext(context, fits).find(RecordKey([.integer(1)]), in: wider) {
      found = try $0.values()
    }
    #expect(found == [.integer(1), .double(0.5), .integer(1)])
  }
}
