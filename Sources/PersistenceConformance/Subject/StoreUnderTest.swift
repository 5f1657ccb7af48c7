package import Foundation
package import PersistenceCore

/// One store: its path, and how checks open it, once or several times.
///
/// If the context is not durable, each opening creates a separate store.
package struct StoreUnderTest: Sendable {
  package let context: ContextUnderTest

  /// The folder that holds the store and nothing else.
  package let folder: URL

  package init(_ context: ContextUnderTest, folder: URL) {
    self.context = context
    self.folder = folder
  }

  /// The store's path: a file or a folder, as the engine decides.
  package var path: String { folder.appendingPathComponent("store").path }

  /// Opens the store, and reports to a monitoring; to none by default.
  package func open(_ options: OpeningOptions = OpeningOptions(), monitoring: Monitoring? = nil) throws
    -> Repository
  {
    Repository(try context.open(path, options, monitoring ?? .silent))
  }

  /// Closes the repository and opens its store again; returns false if the context is not durable.
  @discardableResult
  func reopen(_ repository: inout Repository) throws -> Bool {
    guard try repository.storage.capabilities.isDurable else { return false }
    try repository.close()
    repository = try open()
    return true
  }

  /// Starts the context's worker on the store in another process; throws if the context has no worker.
  package func worker(
    _ command: String, _ arguments: String..., opening options: OpeningOptions = OpeningOptions()
  ) throws -> WorkerProcess {
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
  package var storage: any StorageContext {
    get throws {
      guard let storage = context.asStorageContext else {
        throw PersistenceError.unsupported("be used as a driver", by: "\(type(of: context))")
      }
      return storage
    }
  }
}
