import DataAccess
import DataAccessTesting
import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing

@Suite("Data source checks")
struct DataSourceSuiteTests {
  @Test("data sources of local stores pass", arguments: ContextUnderTest.ours, DataSourceCheck.all)
  func local(context: ContextUnderTest, check: DataSourceCheck) async throws {
    try await check.run(on: RepositoryProvider { try context.makeStore().open() })
  }

  @Test("a scripted data source without a script passes", arguments: DataSourceCheck.all)
  func scripted(check: DataSourceCheck) async throws { try await check.run(on: ScriptedProvider { _ in }) }

  @Test(
    "the checks detect a broken data source",
    arguments: [
      ("leaves objects out", ScriptedAnswer.truncated(to: 3), DataSourceOperation.execute),
      ("counts wrongly", .truncated(to: 1), .count),
      ("throws although it made the write", .lost(PersistenceError(.unreachable, "lost")), .insert),
      ("breaks off pages", .partial(2, then: PersistenceError(.unreachable, "lost")), .page),
    ])
  func broken(name: String, answer: ScriptedAnswer, operation: DataSourceOperation) async throws {
    let report = await DataSourceSuite().run(
      on: ScriptedProvider { script in
        for _ in 0..<200 { script(answer, operation) }
      })
    #expect(report.count { $0.failure != nil } > 0)
    #expect(report.count == DataSourceCheck.all.count)
  }
}

private struct ScriptedProvider: DataSourceUnderTest {
  let prepare: @Sendable ((ScriptedAnswer, DataSourceOperation) -> Void) -> Void

  func withDataSource<Object: PersistentRecord>(
    of type: Object.Type, _ body: @Sendable (any DataSource<Object>) async throws -> Void
  ) async throws {
    let source = try ScriptedDataSource<Object>()
    prepare { source.script($0, for: $1) }
    try await body(source)
  }
}
