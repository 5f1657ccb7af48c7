import PersistenceConformance
import PersistenceCore

extension PlantedDefect {
  /// O2, O4, V6, R1: rows that are passed on once, apart from fetches.
  static let passes: [PlantedDefect] = [
    passing("a pass takes the values of an earlier condition of its shape", .v6, .o2) { known in
      { context, request in
        let shape = "\(request.schema.name) \(request.predicate?.shape ?? "")"
        let first = known.change { known in
          let first = known[shape]?.request ?? request
          known[shape] = Pass(request: first)
          return first
        }
        let wrong = try FetchRequest(
          request.schema, where: first.predicate, order: request.order, limit: request.limit,
          offset: request.offset, after: request.after)
        return try context.fetch(wrong).rows()
      }
    }.caught(by: Self.firstRecords),
    passing("a pass goes on behind the limit", .o4) { _ in
      { context, request in
        let longer = try FetchRequest(
          request.schema, where: request.predicate, order: request.order, limit: (request.limit ?? 0) + 1,
          offset: request.offset, after: request.after)
        return try context.fetch(longer).rows()
      }
    }.caught(by: Self.firstRecords),
    passing("a pass ends at the first page of the engine", .o4, isSemantic: false) { _ in
      { context, request in Array(try context.fetch(request).rows().prefix(64)) }
    }.caught(by: Self.firstRecords),
    passing("a pass shows the rows of an earlier one", .r1) { known in
      { context, request in
        let text = "\(request)"
        if let rows = known.change({ $0[text]?.rows }) { return rows }
        let rows = try context.fetch(request).rows()
        known.change { $0[text] = Pass(request: request, rows: rows) }
        return rows
      }
    }.caught(by: "a short fetch shows the newest commit, also of another context of the store"),
  ]

  private static let firstRecords =
    "a short fetch has the first records of the whole result, also when it is repeated with other values"

  /// What a context remembers of an earlier pass.
  private struct Pass: Sendable {
    let request: FetchRequest
    var rows: [[PersistentValue]] = []
  }

  private typealias Rows = @Sendable (any StorageContext, FetchRequest) throws -> [[PersistentValue]]

  private static func passing(
    _ name: String, _ rules: ContractRule..., isSemantic: Bool = true,
    rows: @escaping @Sendable (Remembered<[String: Pass]>) -> Rows
  ) -> PlantedDefect {
    PlantedDefect(name, rules: rules, isSemantic: isSemantic) { _, options, monitoring in
      PassingContext(memory(options, monitoring), rows: rows(Remembered([:])))
    }
  }
}
