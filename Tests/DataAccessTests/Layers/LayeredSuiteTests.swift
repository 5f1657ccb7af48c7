import DataAccess
import DataAccessTesting
import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing
import PersistenceDriverSupport

@Suite("Layers pass the data source checks")
struct LayeredSuiteTests {
  @Test(
    "in every combination of layers, with every strategy", arguments: LayeredProvider.combinations,
    DataSourceCheck.all)
  func combinations(provider: LayeredProvider, check: DataSourceCheck) async throws {
    try await check.run(on: provider)
  }

  @Test("over local stores that are written first", arguments: ContextUnderTest.ours, DataSourceCheck.all)
  func localFirst(context: ContextUnderTest, check: DataSourceCheck) async throws {
    try await check.run(
      on: LayeredProvider(
        name: "", layers: [.cache, .local, .remote], strategy: .upToDateWithFallback, writes: .localFirst
      ) { try context.makeStore().open() })
  }

  @Test("a cache on its own passes too", arguments: DataSourceCheck.all)
  func cache(check: DataSourceCheck) async throws { try await check.run(on: CacheProvider()) }

  @Test("there must be a layer, and an outbox needs a repository")
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
  /// Whether the layers are of types that a layered data source does not know.
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
        name: "all of unknown types", layers: [.cache, .local, .remote], strategy: .fastestAvailable,
        isOpaque: true))
    return providers
  }()

  func withDataSource<Object: PersistentRecord>(
    of type: Object.Type, _ body: @Sendable (any DataSource<Object>) async throws -> Void
  ) async throws {
    let repository = try open()
    var options = LayerOptions<Object>()
    options.strategy = strategy
    options.writes = writes
    // A read waits until the writes of many tasks are sent. The limit suffices for a slow machine, and catches
    // a hang.
    (options.remote.timeout, options.remote.deadline) = (.seconds(300), .seconds(300))
    let cache: any DataSource<Object> =
      isOpaque ? try RepositoryDataSource<Object>.inMemory() : CacheDataSource<Object>()
    let local: any DataSource<Object> =
      isOpaque ? try ScriptedDataSource<Object>() : repository.dataSource(of: type)
    let source = try LayeredDataSource(
      cache: layers.contains(.cache) ? cache : nil, local: layers.contains(.local) ? local : nil,
      remote: layers.contains(.remote) ? try RepositoryDataSource<Object>.inMemory() : nil, options: options)
    try await body(source)
    try? await source.outbox?.send()
    try repository.close()
  }
}

private struct CacheProvider: DataSourceUnderTest {
  func withDataSource<Object: PersistentRecord>(
    of type: Object.Type, _ body: @Sendable (any DataSource<Object>) async throws -> Void
  ) async throws {
    try await body(CacheDataSource<Object>())
  }
}
