package import Foundation
import Synchronization

/// A folder for the stores of one check, which the check removes at its end.
///
/// The next run removes the folders of a killed run.
///
/// Most checks do not depend on the medium, and use an in-memory file system if available, which is several
/// times faster. Checks of kills and media use the disk.
package struct ScratchFolder: Sendable {
  package enum Medium: Sendable {
    /// An in-memory file system if there is one, otherwise the disk.
    case fast
    /// The disk.
    case disk
  }

  private let disk: URL
  private let memory: URL?

  /// Names a folder within a base, without creating it.
  ///
  /// Without a base, it is in the system's temporary folder, or in memory for the fast medium.
  package init(in base: URL? = nil) throws {
    let count = Self.number.wrappingAdd(1, ordering: .relaxed).newValue
    let name = "\(Self.prefix)\(ProcessInfo.processInfo.processIdentifier)/\(count)"
    disk = (base ?? FileManager.default.temporaryDirectory).appendingPathComponent(name)
    memory = base == nil ? Self.memory?.appendingPathComponent(name) : nil
  }

  /// Creates an empty folder that any user may enter.
  package func make(_ name: String, on medium: Medium = .fast) throws -> URL {
    let count = Self.number.wrappingAdd(1, ordering: .relaxed).newValue
    let root = (medium == .fast ? memory : nil) ?? disk
    Self.removeLeftovers(beside: root)
    let folder = root.appendingPathComponent("\(count)-\(name)")
    try Self.making.withLock { _ in
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    }
    return folder
  }

  /// Removes the folder and its content, and the process's own folder if it is empty.
  package func remove() {
    for root in [disk, memory].compactMap(\.self) {
      try? FileManager.default.removeItem(at: root)
      Self.making.withLock { _ in _ = rmdir(root.deletingLastPathComponent().path) }
    }
  }

  private static let prefix = "persistence-conformance-"
  private static let number = Atomic(0)

  /// Held while a folder is created and while the process's own is removed.
  ///
  /// Otherwise, the end of one check could remove the process's folder before another check creates its own
  /// in it.
  private static let making = Mutex<Void>(())

  /// An in-memory file system with at least 2 GiB free; nil if there is none.
  private static let memory: URL? = {
    let memory = URL(fileURLWithPath: "/dev/shm")
    let attributes = try? FileManager.default.attributesOfFileSystem(forPath: memory.path)
    let free = (attributes?[.systemFreeSize] as? NSNumber)?.int64Value ?? 0
    return free > 2 << 30 ? memory : nil
  }()

  private static let cleaned = Mutex<Set<String>>([])

  private static func removeAll() {
    for own in cleaned.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: own) }
  }

  /// Removes the folders of killed runs, once for each base, and registers the removal of this process's own
  /// at exit.
  private static func removeLeftovers(beside root: URL) {
    let own = root.deletingLastPathComponent()
    let base = own.deletingLastPathComponent()
    let isFirst = cleaned.withLock { places in
      let isFirst = places.isEmpty
      return places.insert(own.path).inserted ? isFirst : nil
    }
    guard let isFirst else { return }
    if isFirst { atexit { ScratchFolder.removeAll() } }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: base.path)) ?? []
    for name in names where name.hasPrefix(prefix) {
      guard let process = Int32(name.dropFirst(prefix.count)), kill(process, 0) != 0, errno == ESRCH else {
        continue
      }
      try? FileManager.default.removeItem(at: base.appendingPathComponent(name))
    }
  }
}
