import DataAccess
import DataAccessTesting
import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing
import PersistenceDriverSupport

@Suite("Layers keep the rules of stores")
struct LayeredSuiteTests {
  @Test(
    "in every combination of layers, by every strategy", arguments: LayeredProvider.combinations,
    DataSourceCheck.all)
  func combinations(provider: LayeredProvider, check: DataSourceCheck) async throws {
    try await check.run(on: provider)
  }

  @Test("over the local stores, written first", arguments: ContextUnderTest.ours, DataSourceCheck.all)
  func localFirst(context: ContextUnderTest, check: DataSourceCheck) async throws {
    try await check.run(
      on: LayeredProvider(
        name: "", layers: [.cache, .local, .remote], strategy: .upToDateWithFallback, writes: .localFirst
      ) { try context.makeStore().open() })
  }

  @Test("a cache by itself is a store too", arguments: DataSourceCheck.all)
  func cache(check: DataSourceCheck) async throws { try await check.run(on: CacheProvider()) }

  @Test("no layer at all is no store, and an outbox needs a repository")
  func refusals() throws {
    #expect(throws: PersistenceError.self) { try LayeredDataSource<Note>() }
    var options = LayerOptions<Note>()
    options.writes = .localFirst
    let error = #expect(throws: PersistenceError.self) {
      try LayeredDataSource<Note>(
        local: CacheDataSource(), remote: RepositoryDataSource.inMemory(), options: options)
    }
    #expect(error?.code == .unsupported)
  }
}

struct LayeredProvider: DataSourceUnderTest, CustomStringConvertible {
  var name: String
  var layers: Set<DataSourceLayer>
  var strategy: RetrievalStrategy
  var writes = WritePolicy.remoteFirst
  /// Whether the layers are stores of any kind, not those that a layered store knows something of.
  var isOpaque = false
  var open: @Sendable () throws -> Repository = { Repository(MemoryContext()) }

  var description: String { name }

  static let combinations: [LayeredProvider] = {
    let all: Set<DataSourceLayer> = [.cache, .local, .remote]
    var providers = [
      LayeredProvider(name: "all, up to date", layers: all, strategy: .upToDateWithFallback),
      LayeredProvider(name: "all, fastest", layers: all, strategy: .fastestAvailable),
      LayeredProvider(name: "cache and remote", layers: [.cache, .remote], strategy: .fastestAvailable),
      LayeredProvider(name: "cache and local", layers: [.cache, .local], strategy: .fastestAvailable),
      LayeredProvider(name: "local", layers: [.local], strategy: .returnMultipleTimes),
    ]
    providers.append(
      LayeredProvider(
        name: "all, written locally first, fastest", layers: [.cache, .local, .remote],
        strategy: .fastestAvailable, writes: .localFirst))
    providers.append(
      LayeredProvider(
        name: "all of other kinds", layers: [.cache, .local, .remote], strategy: .fastestAvailable,
        isOpaque: true))
    return providers
  }()

  func withStore<Object: PersistentRecord>(
    of type: Object.Type, _ body: @Sendable (any DataSource<Object>) async throws -> Void
  ) async throws {
    let repository = try open()
    var options = LayerOptions<Object>()
    options.strategy = strategy
    options.writes = writes
    // A read waits until what many tasks have written is sent; a slow machine has time for that, and a read that never
    // ends is found.
    options.remote.timeout = .seconds(300)
    let cache: any DataSource<Object> =
      isOpaque ? try RepositoryDataSource<Object>.inMemory() : CacheDataSource<Object>()
    let local: any DataSource<Object> =
      isOpaque ? try ScriptedDataSource<Object>() : repository.dataSource(of: type)
    let store = try LayeredDataSource(
      cache: layers.contains(.cache) ? cache : nil, local: layers.contains(.local) ? local : nil,
      remote: layers.contains(.remote) ? try RepositoryDataSource<Object>.inMemory() : nil, options: options)
    try await body(store)
    try? await store.outbox?.send()
    try repository.close()
  }
}

private struct CacheProvider: DataSourceUnderTest {
  func withStore<Object: PersistentRecord>(
    of type: Object.Type, _ body: @Sendable (any DataSource<Object>) async throws -> Void
  ) async throws {
    try await body(CacheDataSource<Object>())
  }
}
