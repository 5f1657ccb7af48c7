package import Foundation

/// A tmpfs file system of a few megabytes, which a check can fill.
package struct SmallDisk: Sendable {
  package let folder: URL

  /// Whether this process may mount one.
  package static let isAvailable: Bool = {
    guard let scratch = try? ScratchFolder() else { return false }
    defer { scratch.remove() }
    guard let disk = try? SmallDisk(megabytes: 1, in: scratch) else { return false }
    disk.unmount()
    return true
  }()

  /// Mounts a disk; returns nil if this process may not.
  package init?(megabytes: Int, in scratch: ScratchFolder) throws {
    #if os(Linux)
      let folder = try scratch.make("disk", on: .disk)
      guard mount("tmpfs", folder.path, "tmpfs", 0, "size=\(megabytes)m,mode=755") == 0 else { return nil }
      self.folder = folder
    #else
      return nil
    #endif
  }

  package func unmount() {
    #if os(Linux)
      _ = umount2(folder.path, Int32(MNT_DETACH))
    #endif
  }
}
