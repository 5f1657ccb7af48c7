import PersistenceConformance
import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

#if Postgres
  import PersistencePostgres
#endif

/// The stores that a run of the suite or of the fuzzer creates on a server, which it removes at the end.
final class ServerStores: Sendable {
  private let names = Mutex<(url: String, names: Set<String>)>(("", []))

  /// The context of a server's URL: each store is a schema of its database.
  ///
  /// - Throws: ``ToolFailure`` if the URL names a store.
  func context(
    _ engine: StorageEngine, _ text: String, _ url: StoreURL, _ effort: Effort, _ worker: WorkerProgram?
  ) throws -> ContextUnderTest {
    guard engine.options.contains(where: { $0.name == "schema" }) else {
      throw ToolFailure.usage("the stores of “\(engine.scheme):” cannot be told apart on a server")
    }
    guard url.options["schema"] == nil else {
      throw ToolFailure.usage("tests create schemas of their own; leave out the option schema")
    }
    names.withLock { $0.url = text }
    let server = ContextUnderTest(
      engine: engine, at: text, storeOption: "schema", effort: effort, worker: worker)
    return ContextUnderTest(engine.scheme, effort: effort, worker: worker) {
      [weak self] path, options, monitoring in
      self?.names.withLock { _ = $0.names.insert(ContextUnderTest.storeName(at: path)) }
      return try server.open(path, options, monitoring)
    }
  }

  /// Removes the stores that were created so far.
  func removeAll() throws {
    let (url, made) = names.withLock { names in
      defer { names.names.removeAll() }
      return names
    }
    #if Postgres
      for name in made { try PostgresContext.removeStore(named: name, url: url) }
    #else
      _ = (url, made)
    #endif
  }
}
