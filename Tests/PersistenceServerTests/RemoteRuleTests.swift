import DataAccess
import DataAccessTesting
import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceRemote
import Testing

/// Data sources of a server in this process, each with a store of its own.
struct ServedDataSources: DataSourceUnderTest {
  let context: ContextUnderTest

  func withDataSource<Object: PersistentRecord>(
    of type: Object.Type, _ body: @Sendable (any DataSource<Object>) async throws -> Void
  ) async throws {
    let repository = try context.makeStore().open()
    let storage = try #require(repository.context.asStorageContext)
    try await RunningServer.with(storage) { server in
      let remote = try RemoteServer(server.url, token: RunningServer.writeToken)
      try await body(remote.dataSource(of: type))
    }
    try storage.close()
  }
}

@Suite("Remote data sources pass the data source checks")
struct RemoteRuleTests {
  @Test(
    "every check passes over HTTP, on every engine", arguments: ContextUnderTest.ours,
    DataSourceCheck.all)
  func rules(context: ContextUnderTest, check: DataSourceCheck) async throws {
    try await check.run(on: ServedDataSources(context: context))
  }
}
