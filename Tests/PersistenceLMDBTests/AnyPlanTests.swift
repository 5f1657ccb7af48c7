import PersistenceConformance
import PersistenceDriver
import PersistenceLMDB
import Testing

@Suite("R2 O2: random plans")
struct AnyPlanTests {
  @Test("A random plan chooser takes every possible plan, and all plans return the same rows")
  func everyPlanIsTaken() throws {
    let scratch = try Scratch()
    let schema = try ModelSchema(
      name: "Movie",
      fields: [
        FieldSchema("id", .int64), FieldSchema("genre", .string), FieldSchema("votes", .int64),
      ], key: ["id"], indexes: [IndexSchema(["genre"]), IndexSchema(["votes"])])
    var configuration = LMDBConfiguration()
    configuration.planChooser = RandomPlanChooser().choose
    let context = try scratch.open(configuration)
    try context.transaction { transaction in
      try transaction.define(schema)
      let row = RowBuffer(count: 3)
      for number in 0..<300 {
        row.reset()
        row.set(.integer(Int64(number)), at: 0)
        row.set(.text(["Drama", "Comedy", "Action"][number % 3]), at: 1)
        row.set(.integer(Int64(number * 7 % 100)), at: 2)
        try row.withRow { try transaction.insert($0, in: schema) }
      }
    }
    let request = try FetchRequest(
      schema,
      where: .all([
        .comparison(field: "genre", .equal, .text("Drama")),
        .comparison(field: "votes", .greaterOrEqual, .integer(50)),
      ]), order: [FieldOrder("votes")])
    var plans: Set<String> = []
    var answers: Set<[PersistentValue]> = []
    for _ in 0..<100 {
      plans.insert("\(try context.plan(for: request))")
      var keys: [PersistentValue] = []
      _ = try context.fetch(request).read(from: 0, limit: Int.max) { keys.append(try $0.value(at: 0)) }
      answers.insert(keys)
    }
    // The scan, two indexes, and each of them with the other.
    #expect(plans.count == 5, "\(plans.sorted())")
    #expect(answers.count == 1)
    #expect(answers.first?.count == 50)
    try context.close()
  }
}
