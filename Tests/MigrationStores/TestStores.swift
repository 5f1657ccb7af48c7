package import Foundation
import Logging
package import PersistenceDriver
import PersistenceJSON
import PersistenceLMDB
import PersistenceSQLite
import PersistenceDriverSupport

/// Opens stores for the tests and for the worker process.
package enum TestStores {
  /// The durable engines.
  package static let durable = ["sqlite", "lmdb", "json"]

  /// Every engine.
  package static let all = ["memory"] + durable

  /// Opens a store of an engine at a path, without log messages about recovery.
  package static func open(_ engine: String, _ path: String, options: String = "") throws
    -> any StorageContext
  {
    var logger = Logger(label: "migration")
    logger.logLevel = .error
    var url = engine == "memory" ? "memory:" : "\(engine):\(path)\(options)"
    // A small limit, so that an index build needs many transactions.
    if engine == "lmdb" { url += (options.isEmpty ? "?" : "&") + "indexmemory=8KiB" }
    let context = try StorageEngine.open(
      url, engines: [.memory, .sqlite, .lmdb, .json], monitoring: Monitoring(logger: logger))
    guard let store = context.asStorageContext else {
      throw PersistenceError.unsupported("keep rows", by: engine)
    }
    return store
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
