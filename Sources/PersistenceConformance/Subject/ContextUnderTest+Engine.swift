import Foundation
public import PersistenceCore
import PersistenceDriverSupport

extension ContextUnderTest {
  /// Describes the context of an engine that opens URLs.
  ///
  /// Checks set the engine's options `busy`, `readonly` and `create`. An option `mapsize` or `maxsize` that
  /// takes a number of bytes limits the store.
  ///
  /// - Parameters:
  ///   - engine: The engine.
  ///   - options: The options of every URL.
  ///   - effort: How much work random checks do.
  ///   - worker: The program that opens stores in a second process.
  public init(
    engine: StorageEngine, options: [String: String] = [:], effort: Effort = .quick,
    worker: WorkerProgram? = nil
  ) {
    self.init(engine.scheme, effort: effort, worker: worker) { path, opening, monitoring in
      let all = options.merging(Self.options(opening, of: engine)) { $1 }
      let url = Self.url(engine.scheme, engine.scheme == "memory" ? "" : path, all)
      return try Self.open(url, engine, monitoring)
    }
  }

  /// Describes the context of an engine whose stores are on a server, where an option tells them apart.
  ///
  /// Checks set the engine's options `busy`, `readonly` and `create`. The names of the stores follow from the paths that
  /// checks choose; ``storeName(at:)`` makes them.
  ///
  /// - Parameters:
  ///   - engine: The engine.
  ///   - url: The URL of the server, without that option.
  ///   - storeOption: The option that names a store, such as `schema`.
  ///   - effort: How much work random checks do.
  ///   - worker: The program that opens stores in a second process.
  public init(
    engine: StorageEngine, at url: String, storeOption: String, effort: Effort = .quick,
    worker: WorkerProgram? = nil
  ) {
    self.init(engine.scheme, effort: effort, worker: worker) { path, opening, monitoring in
      var all = Self.options(opening, of: engine)
      all[storeOption] = Self.storeName(at: path)
      let query = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
      return try Self.open(url + (url.contains("?") ? "&" : "?") + query, engine, monitoring)
    }
  }

  /// The name of the store that stands for a path on a server: letters and digits, different for different paths.
  ///
  /// - Parameter path: The path that a check chose.
  /// - Returns: The name.
  public static func storeName(at path: String) -> String {
    // FNV-1a, in both directions.
    func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
      bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
    let (forwards, backwards) = (hash(path.utf8), hash(path.utf8.reversed()))
    return "conformance_" + String(forwards, radix: 16) + String(backwards, radix: 16)
  }

  private static func options(_ opening: OpeningOptions, of engine: StorageEngine) -> [String: String] {
    var options: [String: String] = [:]
    func set(_ name: String, _ value: String) {
      if engine.options.contains(where: { $0.name == name }) { options[name] = value }
    }
    if let milliseconds = opening.busyMilliseconds { set("busy", "\(milliseconds)ms") }
    if opening.isReadOnly { set("readonly", "true") }
    if !opening.creates { set("create", "false") }
    if opening.isSmallest { for name in ["mapsize", "maxsize"] { set(name, "8MiB") } }
    return options
  }

  private static func open(_ url: String, _ engine: StorageEngine, _ monitoring: Monitoring) throws
    -> any StorageContext
  {
    let context = try StorageEngine.open(url, engines: [engine], monitoring: monitoring)
    guard let storage = context.asStorageContext else {
      throw PersistenceError.unsupported("be used as a driver", by: "\(type(of: context))")
    }
    return storage
  }

  private static func url(_ scheme: String, _ path: String, _ options: [String: String]) -> String {
    let unescaped = CharacterSet(charactersIn: "/-_.~").union(.alphanumerics)
    let escaped = path.addingPercentEncoding(withAllowedCharacters: unescaped) ?? path
    let query = options.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
    return "\(scheme):\(escaped)\(query.isEmpty ? "" : "?" + query)"
  }
}
