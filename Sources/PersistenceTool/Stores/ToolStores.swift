import Foundation
import PersistenceDriver
import PersistenceDriverSupport

#if SQLite
  import PersistenceSQLite
#endif

/// Opens the stores of a command line.
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

  /// Checks the scheme and the options of a URL without opening the store.
  ///
  /// - Throws: `PersistenceError` with code `invalidURL`.
  @discardableResult
  func check(_ text: String) throws -> StoreURL {
    let url = try StoreURL(text)
    if let engine = engines.first(where: { $0.scheme == url.scheme }) {
      _ = try StoreOptions(url, known: engine.options)
    } else {
      // The error lists the known schemes.
      _ = try StorageEngine.open(text, engines: engines, monitoring: session.monitoring(isVerbose: false))
    }
    return url
  }

  /// Whether a URL names a file or folder, existing or not.
  func hasFiles(_ url: StoreURL) -> Bool {
    !url.path.isEmpty && engines.first { $0.scheme == url.scheme }?.hasFiles ?? true
  }

  /// Opens an existing store for reading.
  ///
  /// A survey scans tables of other programs to determine kinds that suit all values. An incomplete store holds an
  /// unfinished migration.
  func openForReading(
    _ text: String, surveying: Bool = false, views: [String] = [], allowsIncomplete: Bool = false
  ) throws -> any StorageContext {
    let store = try openToRead(text, surveying: surveying, views: views)
    try Self.closingOnError(store) { if !allowsIncomplete { try store.requireComplete() } }
    return store
  }

  private func openToRead(_ text: String, surveying: Bool, views: [String]) throws -> any StorageContext {
    var text = text
    var url = try check(text)
    if surveying {
      text = Self.adding("survey", "true", to: text, url, engines)
      if !views.isEmpty, url.options["survey"] != "false" {
        // By bytes, because a combining scalar may follow a delimiter.
        let list = views.map { view in
          let literal = Substring(view).parts("\\").joined(separator: "\\\\")
          return Substring(literal).parts(",").joined(separator: "\\,")
        }.joined(separator: ",")
        text = Self.adding("views", StoreURL.escaped(list), to: text, url, engines)
      }
      url = try check(text)
    }
    try requireFiles(of: url)
    // A command reads one moment to its end, however long that takes.
    text = Self.adding("pinlimit", "43200min", to: text, url, engines)
    // Read-only first. If the engine must recover a killed process's store, or refuses for another reason, open the
    // existing store normally.
    do {
      let store = try open(Self.adding("readonly", "true", to: text, url, engines))
      return url.options["readonly"] == nil ? Self.leavingNoFiles(store) : store
    } catch let error as PersistenceError
      where ![.missingStore, .notAStore, .invalidURL].contains(error.code)
    {
      return try open(Self.adding("create", "false", to: text, url, engines))
    }
  }

  /// A store whose closing removes what its engine creates beside it for a reader.
  private static func leavingNoFiles(_ store: any StorageContext) -> any StorageContext {
    #if SQLite
      if store.innermost is SQLiteContext { return ReadSQLiteStore(store) }
    #endif
    return store
  }

  private func requireFiles(of url: StoreURL) throws {
    guard !hasFiles(url) || FileManager.default.fileExists(atPath: url.path) else {
      throw PersistenceError(
        .missingStore, "there is no store at \(url.path); nothing was created", location: "\(url)")
    }
  }

  /// Adds an option to a URL if the engine supports it and the user did not set it.
  private static func adding(
    _ name: String, _ value: String, to text: String, _ url: StoreURL, _ engines: [StorageEngine]
  ) -> String {
    let engine = engines.first { $0.scheme == url.scheme }
    guard url.options[name] == nil, engine?.options.contains(where: { $0.name == name }) ?? false else {
      return text
    }
    return text + (text.contains("?") ? "&" : "?") + "\(name)=\(value)"
  }

  /// Opens a store for copying: surveys its tables, and opens named views and virtual tables as models.
  func openForCopying(_ text: String, models: [String]) throws -> any StorageContext {
    let store = try openForReading(text, surveying: true)
    guard !models.isEmpty else { return store }
    return try Self.closingOnError(store) {
      let known = Set(try store.catalog().map { StoredName($0.name) })
      let views = Set(
        try store.unmappedObjects().filter { [.view, .virtualTable].contains($0.kind) }.map {
          StoredName($0.name)
        })
      let wanted = models.filter { !known.contains(StoredName($0)) && views.contains(StoredName($0)) }
      guard !wanted.isEmpty else { return store }
      try store.close()
      return try openForReading(text, surveying: true, views: wanted)
    }
  }

  /// Opens a store for writing, and creates it unless it must exist.
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

  /// Runs a closure with a store, then closes the store.
  func with<Result>(_ store: any StorageContext, _ body: (any StorageContext) throws -> Result) throws
    -> Result
  {
    let result = try Self.closingOnError(store) { try body(store) }
    try store.close()
    return result
  }

  private static func closingOnError<Result>(
    _ store: any StorageContext, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch {
      try? store.close()  // Report the first error.
      throw error
    }
  }
}

extension StorageReader {
  /// The schema of a model.
  ///
  /// - Throws: ``ToolFailure`` that lists the existing models.
  func schema(of name: String, in location: String) throws -> ModelSchema {
    if let schema = try schema(named: name) { return schema }
    let catalog = try catalog()
    let names = catalog.map { "“\($0.name)”" }.joined(separator: ", ")
    throw ToolFailure.usage(
      "\(location) has no model “\(name)”; "
        + (catalog.isEmpty ? "it has no models" : "its models are \(TerminalText.safe(names))"))
  }
}

extension StorageResults {
  /// Reads all rows page by page; throws between pages if the user interrupted the tool.
  func forEach(_ session: ToolSession, _ body: (borrowing Row) throws -> Void) throws {
    let page = 64
    var offset = 0
    while true {
      try session.checkInterrupt()
      let read = try read(from: offset, limit: page, body)
      offset += read
      if read < page { return }
    }
  }
}
