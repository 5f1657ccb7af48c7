import Foundation
import PersistenceDriver
import PersistenceJSON

/// A temporary folder for one store, removed after the test.
final class TemporaryStore: Sendable {
  let path: String
  private let parent: String

  init() throws {
    parent = NSTemporaryDirectory() + "persistence-json-" + UUID().uuidString
    path = parent + "/store"
    try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: parent) }

  /// Opens the store, by default without durability against power failures.
  func open(
    _ synchronization: JSONDirectoryConfiguration.Synchronization = .off, busy: Duration = .seconds(20),
    step: @escaping @Sendable (String) throws -> Void = { _ in }
  ) throws -> JSONDirectoryContext {
    var configuration = JSONDirectoryConfiguration(synchronization: synchronization, busyTimeout: busy)
    configuration.step = step
    return try JSONDirectoryContext(path: path, configuration: configuration)
  }

  func openForReading() throws -> JSONDirectoryContext {
    try JSONDirectoryContext(path: path, configuration: JSONDirectoryConfiguration(isReadOnly: true))
  }

  /// The text of a file below the store.
  func text(_ name: String) throws -> String {
    try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
  }

  /// Changes a file as an editor would: by replacing it, or in place.
  func write(_ text: String, to name: String, inPlace: Bool = false) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"), options: inPlace ? [] : .atomic)
  }

  func edit(_ name: String, _ old: String, _ new: String, inPlace: Bool = false) throws {
    try write(text(name).replacingOccurrences(of: old, with: new), to: name, inPlace: inPlace)
  }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }

  func makeFolder(_ name: String = "") throws {
    try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
  }

  /// The names in a folder below the store, sorted.
  func names(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)").sorted()
  }
}
