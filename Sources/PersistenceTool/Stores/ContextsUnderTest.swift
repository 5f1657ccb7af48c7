import Foundation
import PersistenceConformance
import PersistenceDriver
import PersistenceDriverSupport

/// Turns URLs into contexts that the suite and the fuzzer make stores of: never the store that is there.
struct ContextsUnderTest {
  private let session: ToolSession

  init(_ session: ToolSession) { self.session = session }

  /// The context that a URL names.
  ///
  /// Its path, where it has one, is the folder in which stores are made and removed: one that does not exist yet, or
  /// an empty one. Its options hold for every store.
  ///
  /// - Throws: ``ToolFailure`` where there is something at the path; `PersistenceError` with code `invalidURL`.
  func context(_ text: String, effort: Effort = .quick, seed: UInt64? = nil) throws -> ContextUnderTest {
    let url = try ToolStores(session, isVerbose: false).check(text)
    let engines = session.engines + [.memory]
    guard let engine = engines.first(where: { $0.scheme == url.scheme }) else {
      throw ToolFailure.usage("no engine is known by the scheme “\(url.scheme):”")
    }
    var worker: WorkerProgram?
    if let executable = session.executable {
      worker = WorkerProgram(executable: executable, arguments: [ConformWorker.name, text])
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
          "there is something at \(path); stores are made and removed there, so name a new or an empty folder, "
            + "or none")
      }
    }
    return URL(fileURLWithPath: path)
  }
}

/// The tool as the second process that checks of kills and of several processes ask for.
enum ConformWorker {
  /// The word that comes before the worker's arguments: no command of a person's.
  static let name = "conform-worker"

  /// Runs as the worker.
  ///
  /// - Parameters:
  ///   - arguments: The URL, then what the suite asks for.
  ///   - session: What engines there are.
  /// - Returns: The code to exit with.
  /// - Throws: What the URL is refused with.
  static func run(_ arguments: [String], in session: ToolSession) throws -> Int32 {
    guard let url = arguments.first else { throw ToolFailure.usage("\(name) is started by conform only") }
    // The folder is the suite's, and not empty any more.
    let context = try ContextsUnderTest(session).context(StoreURL(url).withoutPath)
    return ConformanceWorker.run(Array(arguments.dropFirst()), on: context)
  }
}

extension StoreURL {
  /// The scheme and the options.
  fileprivate var withoutPath: String {
    let allowed = CharacterSet(charactersIn: "-_.~").union(.alphanumerics)
    let query = options.sorted { $0.key < $1.key }.map { name, value in
      "\(name)=" + (value.addingPercentEncoding(withAllowedCharacters: allowed) ?? value)
    }
    return scheme + ":" + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
  }
}
