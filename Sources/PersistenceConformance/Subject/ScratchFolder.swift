package import Foundation
import Synchronization

/// A folder for the stores of one check, removed when the check is over; what a killed run has left is removed by
/// the next.
///
/// Most checks ask about meaning, not about the medium, and use a file system in memory where there is one, which
/// makes a run several times faster; checks of kills and of the medium use the disk.
package struct ScratchFolder: Sendable {
  /// What a store stands on.
  package enum Medium: Sendable {
    /// Memory where the system has such a file system, otherwise the disk.
    case fast
    /// The disk.
    case disk
  }

  private let disk: URL
  private let memory: URL?

  /// Names a folder within a base; nothing is made yet.
  ///
  /// Without a base it lies in the system's temporary folder, and in memory what may lie there.
  package init(in base: URL? = nil) throws {
    let count = Self.number.wrappingAdd(1, ordering: .relaxed).newValue
    let name = "\(Self.prefix)\(ProcessInfo.processInfo.processIdentifier)/\(count)"
    disk = (base ?? FileManager.default.temporaryDirectory).appendingPathComponent(name)
    memory = base == nil ? Self.memory?.appendingPathComponent(name) : nil
  }

  /// Makes an empty folder that everybody may enter.
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

  /// Removes the folder with everything in it, and the process's own where it was the last.
  package func remove() {
    for root in [disk, memory].compactMap(\.self) {
      try? FileManager.default.removeItem(at: root)
      Self.making.withLock { _ in _ = rmdir(root.deletingLastPathComponent().path) }
    }
  }

  private static let prefix = "persistence-conformance-"
  private static let number = Atomic(0)

  /// Held while a folder is made and while the process's own is removed: between making the process's folder and a
  /// check's within it, another check that ends would find it empty and take it away.
  private static let making = Mutex<Void>(())

  /// A file system in memory with room enough; nil where there is none.
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

  /// Removes what killed runs have left, once in each place, and what this process leaves, when it ends.
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
