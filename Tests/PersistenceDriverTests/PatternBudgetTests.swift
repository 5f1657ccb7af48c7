import PersistenceDriver
import Testing

/// The limit of all regular expressions of a condition.
struct PatternBudgetTests {
  private static func request(patterns count: Int) throws -> FetchRequest {
    let schema = try ModelSchema(
      name: "Note",
      fields: [FieldSchema("id", .int64), FieldSchema("text", .string), FieldSchema("tags", .document)],
      key: ["id"])
    let large = "(a{99}){99}"
    let nodes: [PredicateNode] = (0..<count).map { number in
      number.isMultiple(of: 2)
        ? .text(field: "text", .matches, large, isCaseInsensitive: false)
        : .document(field: "tags", path: ["a"], .text(.matches, large, isCaseInsensitive: false))
    }
    return try FetchRequest(schema, where: .not(.any([.constant(false), .all(nodes)])))
  }

  @Test("V7 a condition has any ten patterns, and no number of them that takes all memory")
  func limit() throws {
    _ = try Self.request(patterns: 10)
    #expect { try Self.request(patterns: 11) } throws: { error in
      (error as? PersistenceError)?.code == .invalidRequest
    }
  }
}
