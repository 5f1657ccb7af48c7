package import Foundation
import Synchronization

/// Folders for stores, all under one of this process, which is removed when it ends.
///
/// Most tests ask about meaning, not about the medium, and use a file system in memory where there is one, which
/// makes a run several times faster; tests of kills and of the medium use the disk. `CONTEXTS_FOLDER` names
/// another place for both.
package enum TemporaryFolder {
  /// What a store stands on.
  package enum Medium: Sendable {
    /// Memory where the system has such a file system, otherwise the disk.
    case fast
    /// The disk.
    case disk
  }

  /// Makes an empty folder that everybody may enter.
  package static func make(_ name: String, on medium: Medium = .fast) throws -> URL {
    let count = number.wrappingAdd(1, ordering: .relaxed).newValue
    let root = medium == .fast ? fastRoot : diskRoot
    let folder = root.appendingPathComponent("\(count)-\(name)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    return folder
  }

  private static let prefix = "persistence-contexts-"
  private static let number = Atomic(0)
  private static let diskRoot = root(in: disk)
  private static let fastRoot: URL = {
    let memory = URL(fileURLWithPath: "/dev/shm")
    let attributes = try? FileManager.default.attributesOfFileSystem(forPath: memory.path)
    let free = (attributes?[.systemFreeSize] as? NSNumber)?.int64Value ?? 0
    guard Environment["CONTEXTS_FOLDER"] == nil, free > 2 << 30 else { return diskRoot }
    return root(in: memory)
  }()

  private static var disk: URL {
    Environment["CONTEXTS_FOLDER"].map { URL(fileURLWithPath: $0) } ?? FileManager.default.temporaryDirectory
  }

  private static let roots = Mutex<[URL]>([])

  private static func root(in base: URL) -> URL {
    removeLeftovers(in: base)
    let root = base.appendingPathComponent("\(prefix)\(ProcessInfo.processInfo.processIdentifier)")
    let isFirst = roots.withLock { roots in
      roots.append(root)
      return roots.count == 1
    }
    if isFirst { atexit { TemporaryFolder.removeAll() } }
    return root
  }

  private static func removeAll() {
    for root in roots.withLock({ $0 }) { try? FileManager.default.removeItem(at: root) }
  }

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
