package import Foundation
import Logging
import OurContexts
import PersistenceConformance
package import PersistenceDriver
import PersistenceJSON
import PersistenceLMDB
import PersistenceSQLite
import PersistenceDriverSupport

#if Postgres
  import PersistencePostgres
#endif

/// Opens stores for the tests and for the worker process.
package enum TestStores {
  /// The durable engines whose stores are files.
  package static let durable = ["sqlite", "lmdb", "json"]

  /// Every engine; of those that are servers, the ones that are installed.
  package static let all = ["memory"] + durable + servers

  /// The servers, which do not have a store for each path but one for each name.
  package static let servers = ContextUnderTest.ours.map(\.name).filter { $0 == "postgres" }

  /// Opens a store of an engine at a path, without log messages about recovery.
  package static func open(_ engine: String, _ path: String, options: String = "") throws
    -> any StorageContext
  {
    var logger = Logger(label: "migration")
    logger.logLevel = .error
    var engines: [StorageEngine] = [.memory, .sqlite, .lmdb, .json]
    var url = engine == "memory" ? "memory:" : "\(engine):\(path)\(options)"
    // A small limit, so that an index build needs many transactions.
    if engine == "lmdb" { url += (options.isEmpty ? "?" : "&") + "indexmemory=8KiB" }
    #if Postgres
      if engine == "postgres" {
        engines = [.postgres]
        url = try PostgresCluster.url() + "&schema=\(name(of: path))" + options.replacing("?", with: "&")
      }
    #endif
    let context = try StorageEngine.open(url, engines: engines, monitoring: Monitoring(logger: logger))
    guard let store = context.asStorageContext else {
      throw PersistenceError.unsupported("keep rows", by: engine)
    }
    return store
  }

  /// Whether a store may be at a path.
  package static func mayExist(_ engine: String, _ path: String) -> Bool {
    servers.contains(engine) || FileManager.default.fileExists(atPath: path)
  }

  /// Removes the store at a path.
  package static func remove(_ engine: String, _ path: String) throws {
    guard servers.contains(engine) else {
      for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
      return try FileManager.default.removeItem(atPath: path)
    }
    #if Postgres
      try PostgresContext.removeStore(named: name(of: path), url: PostgresCluster.url())
    #endif
  }

  /// The name of a server's store for a path, the same in every process.
  private static func name(of path: String) -> String {
    let hash = path.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3
    }
    return "migration_\(String(hash, radix: 16))"
  }

  /// Runs a closure with a temporary folder, then removes the folder.
  package static func withFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "migration-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }
}
