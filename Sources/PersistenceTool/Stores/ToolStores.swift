import Foundation
import PersistenceDriver

/// Opens the stores that a command line names.
struct ToolStores {
  private let session: ToolSession
  private let isVerbose: Bool

  init(_ session: ToolSession, isVerbose: Bool) {
    self.session = session
    self.isVerbose = isVerbose
  }

  private var engines: [StorageEngine] {
    session.engines.contains { $0.scheme == StorageEngine.memory.scheme }
      ? session.engines : session.engines + [.memory]
  }

  /// Checks a URL without opening anything: its scheme and its options.
  ///
  /// - Throws: `PersistenceError` with code `invalidURL`.
  @discardableResult
  func check(_ text: String) throws -> StoreURL {
    let url = try StoreURL(text)
    if let engine = engines.first(where: { $0.scheme == url.scheme }) {
      _ = try StoreOptions(url, known: engine.options)
    } else {
      // Opening says which schemes there are.
      _ = try StorageEngine.open(text, engines: engines, monitoring: session.monitoring(isVerbose: false))
    }
    return url
  }

  /// Checks two URLs that must not name one place.
  func checkApart(_ first: String, _ second: String, _ reason: String) throws {
    let (left, right) = (try check(first), try check(second))
    guard !left.path.isEmpty, left.scheme == right.scheme else { return }
    let paths = [left.path, right.path].map { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path }
    guard paths[0] != paths[1] else { throw ToolFailure.usage(reason) }
  }

  /// Opens a store that is only read: one that does not exist is an error, and is not made.
  func openForReading(_ text: String) throws -> any StorageContext {
    let url = try check(text)
    guard url.path.isEmpty || FileManager.default.fileExists(atPath: url.path) else {
      throw PersistenceError(
        .missingStore, "there is no store at \(url.path); nothing was made", location: "\(url)")
    }
    return try open(text)
  }

  /// Opens a store that is written to, making it where there is none.
  func openForWriting(_ text: String) throws -> any StorageContext {
    try check(text)
    return try open(text)
  }

  private func open(_ text: String) throws -> any StorageContext {
    let context = try StorageEngine.open(
      text, engines: engines, monitoring: session.monitoring(isVerbose: isVerbose))
    guard let store = context as? any StorageContext else {
      throw PersistenceError.unsupported("be read as rows", by: StoreURL.redacted(text))
    }
    return store
  }

  /// Runs a closure with a store, and closes it afterwards.
  func with<Result>(_ store: any StorageContext, _ body: (any StorageContext) throws -> Result) throws
    -> Result
  {
    let result: Result
    do {
      result = try body(store)
    } catch {
      try? store.close()  // The failure in hand says more than a second one could.
      throw error
    }
    try store.close()
    return result
  }
}
