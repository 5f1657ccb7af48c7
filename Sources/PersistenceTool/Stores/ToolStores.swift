import Foundation
import PersistenceDriver
import PersistenceDriverSupport

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

  /// Whether a URL names a file or folder, which is there or not.
  func hasFiles(_ url: StoreURL) -> Bool {
    !url.path.isEmpty && engines.first { $0.scheme == url.scheme }?.hasFiles ?? true
  }

  /// Opens a store that is only read: one that does not exist is an error, and is not made.
  ///
  /// - Parameters:
  ///   - text: The URL.
  ///   - surveying: Whether tables that other programs made are read from end to end first, for kinds that hold all
  ///     their values, where the engine knows such tables.
  ///   - views: Views that are looked at as models, where the engine has views.
  ///   - allowsIncomplete: Whether a store will do that a migration has not finished filling.
  /// - Returns: The store.
  /// - Throws: `PersistenceError` where it cannot be opened.
  func openForReading(
    _ text: String, surveying: Bool = false, views: [String] = [], allowsIncomplete: Bool = false
  ) throws -> any StorageContext {
    let store = try openToRead(text, surveying: surveying, views: views)
    guard !allowsIncomplete else { return store }
    do {
      try store.requireComplete()
      return store
    } catch {
      try? store.close()  // The failure in hand says more than a second one could.
      throw error
    }
  }

  private func openToRead(_ text: String, surveying: Bool, views: [String]) throws -> any StorageContext {
    var text = text
    var url = try check(text)
    if surveying {
      text = Self.adding("survey", "true", to: text, url, engines)
      if !views.isEmpty, url.options["survey"] != "false" {
        // By bytes: a scalar that follows a mark may combine with it to one character.
        let list = views.map { view in
          let literal = Substring(view).parts("\\").joined(separator: "\\\\")
          return Substring(literal).parts(",").joined(separator: "\\,")
        }.joined(separator: ",")
        text = Self.adding("views", StoreURL.escaped(list), to: text, url, engines)
      }
      url = try check(text)
    }
    try requireFiles(of: url)
    // Read only, so that nothing changes; but where the engine must first finish what a killed process left, or has
    // other needs, as an ordinary store that is not made anew.
    do {
      return try open(Self.adding("readonly", "true", to: text, url, engines))
    } catch let error as PersistenceError
      where ![.missingStore, .notAStore, .invalidURL].contains(error.code)
    {
      return try open(Self.adding("create", "false", to: text, url, engines))
    }
  }

  private func requireFiles(of url: StoreURL) throws {
    guard !hasFiles(url) || FileManager.default.fileExists(atPath: url.path) else {
      throw PersistenceError(
        .missingStore, "there is no store at \(url.path); nothing was made", location: "\(url)")
    }
  }

  /// The URL with an option, where the engine has it and the user says nothing about it.
  private static func adding(
    _ name: String, _ value: String, to text: String, _ url: StoreURL, _ engines: [StorageEngine]
  ) -> String {
    let engine = engines.first { $0.scheme == url.scheme }
    guard url.options[name] == nil, engine?.options.contains(where: { $0.name == name }) ?? false else {
      return text
    }
    return text + (text.contains("?") ? "&" : "?") + "\(name)=\(value)"
  }

  /// Opens a store that is written to, making it where there is none, unless it must be there already.
  func openForWriting(_ text: String, mustExist: Bool = false) throws -> any StorageContext {
    let url = try check(text)
    if mustExist { try requireFiles(of: url) }
    return try open(text)
  }

  private func open(_ text: String) throws -> any StorageContext {
    let context = try StorageEngine.open(
      text, engines: engines, monitoring: session.monitoring(isVerbose: isVerbose))
    guard let store = context.asStorageContext else {
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
