package import Foundation
import Synchronization

/// Folders for stores, all under one of this process, which is removed when it ends.
package enum TemporaryFolder {
  private static let root: URL = {
    let base = FileManager.default.temporaryDirectory
    removeLeftovers(in: base)
    let root = base.appendingPathComponent("\(prefix)\(ProcessInfo.processInfo.processIdentifier)")
    atexit { TemporaryFolder.removeAll() }
    return root
  }()

  private static let prefix = "persistence-contexts-"
  private static let number = Atomic(0)

  /// Makes an empty folder that everybody may enter.
  package static func make(_ name: String) throws -> URL {
    let count = number.wrappingAdd(1, ordering: .relaxed).newValue
    let folder = root.appendingPathComponent("\(count)-\(name)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    return folder
  }

  private static func removeAll() { try? FileManager.default.removeItem(at: root) }

  /// Removes what killed test runs have left.
  private static func removeLeftovers(in base: URL) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: base.path)) ?? []
    for name in names where name.hasPrefix(prefix) {
      guard let process = Int32(name.dropFirst(prefix.count)), kill(process, 0) != 0, errno == ESRCH else {
        continue
      }
      try? FileManager.default.removeItem(at: base.appendingPathComponent(name))
    }
  }
}
