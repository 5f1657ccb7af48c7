import Foundation
import PersistenceConformance
import PersistenceDriver
import PersistenceDriverSupport

/// Creates contexts for the conformance suite and the fuzzer from URLs; never opens an existing store.
struct ContextsUnderTest {
  let session: ToolSession
  /// The stores on servers, for their removal.
  var stores = ServerStores()

  /// The context for a URL.
  ///
  /// The URL's path, if any, is the folder for the stores; it must be new or empty. The URL's options apply to every
  /// store.
  ///
  /// - Throws: ``ToolFailure`` if the path is not empty; `PersistenceError` with code `invalidURL`.
  func context(_ text: String, effort: Effort = .quick, seed: UInt64? = nil) throws -> ContextUnderTest {
    let url = try ToolStores(session, isVerbose: false).check(text)
    let engines = session.engines + [.memory]
    guard let engine = engines.first(where: { $0.scheme == url.scheme }) else {
      throw ToolFailure.usage("no engine has the scheme “\(url.scheme):”")
    }
    var worker: WorkerProgram?
    if let executable = session.executable {
      worker = WorkerProgram(executable: executable, arguments: [ConformWorker.name, text])
    }
    guard engine.hasFiles || engine.scheme == StorageEngine.memory.scheme else {
      var context = try stores.context(engine, text, url, effort, worker)
      context.seed = seed
      return context
    }
    var context = ContextUnderTest(engine: engine, options: url.options, effort: effort, worker: worker)
    context.seed = seed
    if !url.path.isEmpty { context.folder = try emptyFolder(url.path) }
    return context
  }

  private func emptyFolder(_ path: String) throws -> URL {
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
      let isEmpty = try isFolder.boolValue && FileManager.default.contentsOfDirectory(atPath: path).isEmpty
      guard isEmpty else {
        throw ToolFailure.usage(
          "\(path) is not an empty folder; tests create and remove stores there, so use a new or empty folder, or "
            + "no path")
      }
    }
    return URL(fileURLWithPath: path)
  }
}

/// The second process for checks of kills and of concurrent processes.
enum ConformWorker {
  /// The first argument of a worker; not a command for users.
  static let name = "conform-worker"

  /// Runs as the worker; the arguments are the URL and those of the suite.
  static func run(_ arguments: [String], in session: ToolSession) throws -> Int32 {
    guard let url = arguments.first else { throw ToolFailure.usage("\(name) is internal to conform") }
    // The suite passes its own folder, which is no longer empty.
    let parsed = try StoreURL(url)
    let isServer = session.engines.contains { $0.scheme == parsed.scheme && !$0.hasFiles }
    let context = try ContextsUnderTest(session: session).context(isServer ? url : parsed.text(at: ""))
    return ConformanceWorker.run(Array(arguments.dropFirst()), on: context)
  }
}
