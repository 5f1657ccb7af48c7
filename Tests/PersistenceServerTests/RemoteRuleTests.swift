import DataAccess
import DataAccessTesting
import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceRemote
import Testing

/// Stores of a server in this process, each with a store of its own behind it.
struct ServedStores: StoreProvider {
  let context: ContextUnderTest

  func withStore<Object: PersistentRecord>(
    of type: Object.Type, _ body: @Sendable (any Store<Object>) async throws -> Void
  ) async throws {
    let repository = try context.makeStore().open()
    let storage = try #require(repository.context.asStorageContext)
    try await RunningServer.with(storage) { server in
      let remote = try RemoteServer(server.url, token: RunningServer.writeToken)
      try await body(remote.store(of: type))
    }
    try storage.close()
  }
}

@Suite("Stores behind a server")
struct RemoteRuleTests {
  @Test(
    "every rule of asynchronous stores holds over HTTP, on every engine", arguments: ContextUnderTest.ours,
    StoreCheck.all)
  func rules(context: ContextUnderTest, check: StoreCheck) async throws {
    try await check.run(on: ServedStores(context: context))
  }
}
