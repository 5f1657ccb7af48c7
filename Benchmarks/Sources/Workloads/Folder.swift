import Foundation

/// A folder that contenders keep their files in.
struct Folder {
  let path: String

  /// Makes the folder.
  init(_ path: String) throws {
    self.path = path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  /// The path of something in the folder.
  func path(_ name: String) -> String { "\(path)/\(name)" }

  /// A folder in the folder, made anew.
  func new(_ name: String) throws -> Folder {
    try remove(name)
    return try Folder(path(name))
  }

  /// Removes what begins with a name: a store and what lies beside it.
  func remove(_ name: String) throws {
    for entry in try FileManager.default.contentsOfDirectory(atPath: path) where entry.hasPrefix(name) {
      try FileManager.default.removeItem(atPath: self.path(entry))
    }
  }
}
