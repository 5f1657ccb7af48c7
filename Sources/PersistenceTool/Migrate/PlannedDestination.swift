import Foundation
import PersistenceDriver
import PersistenceMigration
import PersistenceDriverSupport

/// The destination of a plan: the store itself, read only, or where there is none yet, a new one of its engine in a
/// temporary folder, so that planning makes nothing where the destination will be.
struct PlannedDestination {
  private let stores: ToolStores
  private let session: ToolSession

  /// A destination while a plan is made.
  struct Opened {
    let context: any StorageContext
    let scratch: ScratchStore?
    let place: StoreURL
  }

  init(_ stores: ToolStores, _ session: ToolSession) {
    self.stores = stores
    self.session = session
  }

  /// Runs a closure with the destination.
  func with<Result>(_ url: String, _ body: (Opened) throws -> Result) throws -> Result {
    let place = try stores.check(url)
    let scratch = try ScratchStore(place, stores)
    defer { scratch?.remove() }
    let exists = stores.hasFiles(place) && FileManager.default.fileExists(atPath: place.path)
    if exists || scratch == nil {
      // A server's store is there, or its engine says that it is not; one in memory is made.
      let context =
        try exists || !place.path.isEmpty
        ? stores.openForReading(url, allowsIncomplete: true) : stores.openForWriting(url)
      return try stores.with(WholeStore.asWritable(context)) {
        try body(Opened(context: $0, scratch: scratch, place: place))
      }
    }
    let context = try scratch.map { try $0.open() } ?? stores.openForReading(url, allowsIncomplete: true)
    return try stores.with(context) { try body(Opened(context: $0, scratch: scratch, place: place)) }
  }
}

/// A store that is opened for reading although it is to be written to: what it can do is what it can do then.
private final class WholeStore: StorageContextWrapper {
  let wrapped: any StorageContext

  static func asWritable(_ context: any StorageContext) -> any StorageContext {
    context.capabilities.isReadOnly ? WholeStore(context) : context
  }

  private init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  var capabilities: Capabilities {
    var capabilities = wrapped.capabilities
    capabilities.isReadOnly = false
    return capabilities
  }
}

/// New stores of an engine in a temporary folder.
struct ScratchStore {
  private let folder: URL
  private let place: StoreURL
  private let stores: ToolStores

  /// Makes a folder; nil where the URL has no path, so that stores of its engine are not files.
  init?(_ place: StoreURL, _ stores: ToolStores) throws {
    guard stores.hasFiles(place) else { return nil }
    self.place = place
    self.stores = stores
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "persistence-plan-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// The path of a store.
  func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// Opens a new store, as the URL's options say.
  func open(_ name: String = "destination") throws -> any StorageContext {
    try stores.openForWriting(place.text(at: path(name), without: ["create", "readonly"]))
  }

  /// Removes all of them.
  func remove() { try? FileManager.default.removeItem(at: folder) }
}

extension StoreURL {
  /// A text as it stands in a path or an option.
  static func escaped(_ text: String) -> String {
    // ASCII only: the rest is escaped byte by byte.
    var allowed = CharacterSet(charactersIn: "-_.~/")
    allowed.insert(charactersIn: "a"..."z")
    allowed.insert(charactersIn: "A"..."Z")
    allowed.insert(charactersIn: "0"..."9")
    return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? text
  }

  /// The URL of a store elsewhere that is opened the same way.
  func text(at path: String, without names: Set<String> = []) -> String {
    let query = options.filter { !names.contains($0.key) }.sorted { $0.key < $1.key }
      .map { "\(Self.escaped($0.key))=\(Self.escaped($0.value))" }.joined(separator: "&")
    return "\(scheme):\(Self.escaped(path))\(query.isEmpty ? "" : "?" + query)"
  }
}
