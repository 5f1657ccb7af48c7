import Foundation
import PersistenceDriver

/// The room that is left where a store is.
package enum FreeSpace {
  /// How many bytes are free for a store; nil where it has no files.
  static func bytes(at store: any StorageContext) -> Int? {
    guard store.capabilities.hasFiles else { return nil }
    return bytes(at: store.location)
  }

  /// How many bytes are free at a path, which needs not exist yet.
  package static func bytes(at path: String) -> Int? {
    var url = URL(fileURLWithPath: path).standardizedFileURL
    while !FileManager.default.fileExists(atPath: url.path), url.path != "/" { url.deleteLastPathComponent() }
    var status = statvfs()
    guard statvfs(url.path, &status) == 0 else { return nil }
    return Int(status.f_bavail) * Int(status.f_frsize)
  }
}
