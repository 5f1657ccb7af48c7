package import Foundation
package import PersistenceCore

/// One store: its path, and how checks open it, once or several times.
///
/// If the context is not durable, each opening creates a separate store.
package struct StoreUnderTest: Sendable {
  /// The context of the store.
  package let context: ContextUnderTest

  /// The folder that holds the store and nothing else.
  package let folder: URL

  /// Names a store in a folder.
  package init(_ context: ContextUnderTest, folder: URL) {
    self.context = context
    self.folder = folder
  }

  /// The store's path: a file or a folder, as the engine decides.
  package var path: String { folder.appendingPathComponent("store").path }

  /// Opens the store.
  ///
  /// - Parameters:
  ///   - options: How.
  ///   - monitoring: What is watched; nothing by default.
  /// - Returns: A repository over it.
  /// - Throws: ``PersistenceError``.
  package func open(_ options: OpeningOptions = OpeningOptions(), monitoring: Monitoring? = nil)
    throws
    -> Repository
  {
    Repository(try context.open(path, options, monitoring ?? .silent))
  }

  /// Starts the context's worker on the store in another process.
  ///
  /// - Parameters:
  ///   - command: The worker's command; see ``ConformanceWorker``.
  ///   - arguments: The command's own arguments.
  ///   - options: How it opens the store.
  /// - Returns: The process.
  /// - Throws: ``ConformanceFailure`` where the context names no worker.
  package func worker(
    _ command: String, _ arguments: String..., opening options: OpeningOptions = OpeningOptions()
  )
    throws -> WorkerProcess
  {
    guard let program = context.worker else {
      throw ConformanceFailure(
        "\(context) declares that its stores outlive a process or are shared between processes",
        expected: "a worker program", found: "none", file: #fileID, line: #line)
    }
    return try WorkerProcess(program, [command, path, options.argument] + arguments)
  }

  /// Returns every file of the store with its bytes, by path, to detect changes.
  package func contents() throws -> [String: Data] {
    var contents: [String: Data] = [:]
    guard let walk = FileManager.default.enumerator(atPath: folder.path) else { return contents }
    for case let name as String in walk {
      let url = folder.appendingPathComponent(name)
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else { continue }
      contents[name] = isFolder.boolValue ? Data() : try Data(contentsOf: url)
    }
    return contents
  }
}

extension PersistentRepository {
  /// Returns the storage context behind the repository.
  package var storage: any StorageContext {
    get throws {
      guard let storage = context.asStorageContext else {
        throw PersistenceError.unsupported("be used as a driver", by: "\(type(of: context))")
      }
      return storage
    }
  }
}
