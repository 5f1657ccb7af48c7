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
      var all = options
      func set(_ name: String, _ value: String) {
        if engine.options.contains(where: { $0.name == name }) { all[name] = value }
      }
      if let milliseconds = opening.busyMilliseconds { set("busy", "\(milliseconds)ms") }
      if opening.isReadOnly { set("readonly", "true") }
      if !opening.creates { set("create", "false") }
      if opening.isSmallest { for name in ["mapsize", "maxsize"] { set(name, "8MiB") } }
      let url = Self.url(engine.scheme, engine.scheme == "memory" ? "" : path, all)
      let context = try StorageEngine.open(url, engines: [engine], monitoring: monitoring)
      guard let storage = context.asStorageContext else {
        throw PersistenceError.unsupported("be used as a driver", by: "\(type(of: context))")
      }
      return storage
    }
  }

  private static func url(_ scheme: String, _ path: String, _ options: [String: String]) -> String {
    let unescaped = CharacterSet(charactersIn: "/-_.~").union(.alphanumerics)
    let escaped = path.addingPercentEncoding(withAllowedCharacters: unescaped) ?? path
    let query = options.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
    return "\(scheme):\(escaped)\(query.isEmpty ? "" : "?" + query)"
  }
}
