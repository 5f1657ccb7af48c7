package import Foundation
import Logging
package import PersistenceDriver
import PersistenceJSON
import PersistenceLMDB
import PersistenceSQLite
import PersistenceDriverSupport

/// Stores by URL, as the tests and the process that they kill open them.
package enum TestStores {
  /// The engines whose stores outlive a process.
  package static let durable = ["sqlite", "lmdb", "json"]

  /// Every engine.
  package static let all = ["memory"] + durable

  /// Opens a store of an engine at a path, saying nothing of recoveries.
  package static func open(_ engine: String, _ path: String, options: String = "") throws
    -> any StorageContext
  {
    var logger = Logger(label: "migration")
    logger.logLevel = .error
    var url = engine == "memory" ? "memory:" : "\(engine):\(path)\(options)"
    // So that building a few records' indexes takes many transactions.
    if engine == "lmdb" { url += (options.isEmpty ? "?" : "&") + "indexmemory=8KiB" }
    let context = try StorageEngine.open(
      url, engines: [.memory, .sqlite, .lmdb, .json], monitoring: Monitoring(logger: logger))
    guard let store = context.asStorageContext else {
      throw PersistenceError.unsupported("keep rows", by: engine)
    }
    return store
  }

  /// Runs a closure with a folder of its own, which is removed afterwards.
  package static func withFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "migration-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }
}
