import Foundation

/// A folder for the files of contenders.
struct Folder {
  let path: String

  /// Creates the folder.
  init(_ path: String) throws {
    self.path = path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  /// Returns a path in the folder.
  func path(_ name: String) -> String { "\(path)/\(name)" }

  /// Creates an empty folder in the folder.
  func new(_ name: String) throws -> Folder {
    try remove(name)
    return try Folder(path(name))
  }

  /// Removes files with a name prefix: a store and its companion files.
  func remove(_ name: String) throws {
    for entry in try FileManager.default.contentsOfDirectory(atPath: path) where entry.hasPrefix(name) {
      try FileManager.default.removeItem(atPath: self.path(entry))
    }
  }
}
