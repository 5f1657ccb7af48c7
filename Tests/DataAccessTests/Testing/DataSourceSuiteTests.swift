import DataAccess
import DataAccessTesting
import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing

@Suite("The rules of stores")
struct DataSourceSuiteTests {
  @Test("local stores keep every rule", arguments: ContextUnderTest.ours, DataSourceCheck.all)
  func local(context: ContextUnderTest, check: DataSourceCheck) async throws {
    try await check.run(on: RepositoryProvider { try context.makeStore().open() })
  }

  @Test("a scripted store without a script keeps them too", arguments: DataSourceCheck.all)
  func scripted(check: DataSourceCheck) async throws { try await check.run(on: ScriptedProvider { _ in }) }

  @Test(
    "the rules find a store that is broken",
    arguments: [
      ("leaves objects out", ScriptedAnswer.truncated(to: 3), DataSourceOperation.execute),
      ("counts wrongly", .truncated(to: 1), .count),
      ("says that it did not do what it did", .lost(PersistenceError(.unreachable, "lost")), .insert),
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

  func withStore<Object: PersistentRecord>(
    of type: Object.Type, _ body: @Sendable (any DataSource<Object>) async throws -> Void
  ) async throws {
    let store = try ScriptedDataSource<Object>()
    prepare { store.script($0, for: $1) }
    try await body(store)
  }
}
