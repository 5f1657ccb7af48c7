package import Foundation

/// A file system of a few megabytes in memory: a disk that can be filled.
package struct SmallDisk: Sendable {
  /// Where it is mounted.
  package let folder: URL

  /// Mounts one; nil where this process may not.
  package init?(megabytes: Int, in scratch: ScratchFolder) throws {
    #if os(Linux)
      let folder = try scratch.make("disk", on: .disk)
      guard mount("tmpfs", folder.path, "tmpfs", 0, "size=\(megabytes)m,mode=755") == 0 else { return nil }
      self.folder = folder
    #else
      return nil
    #endif
  }

  /// Takes it away, with everything on it.
  package func unmount() {
    #if os(Linux)
      _ = umount2(folder.path, Int32(MNT_DETACH))
    #endif
  }
}
