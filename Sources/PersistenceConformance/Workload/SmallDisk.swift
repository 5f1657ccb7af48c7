package import Foundation
import PersistenceCore

/// A file system with a few free megabytes, which a check can fill.
///
/// It is a tmpfs, or the file system that the environment names in `PERSISTENCE_DISK`, whose other space a file fills;
/// only one check at a time can use that one.
package struct SmallDisk: Sendable {
  package let folder: URL
  /// The file that uses the space of a file system that is not the disk's own.
  private let ballast: URL?

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
      if let shared = ProcessInfo.processInfo.environment["PERSISTENCE_DISK"] {
        let disk = URL(fileURLWithPath: shared)
        folder = disk.appendingPathComponent("small-disk")
        let ballast = disk.appendingPathComponent("ballast")
        self.ballast = ballast
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Self.fill(ballast, leaving: megabytes << 20)
        return
      }
      let folder = try scratch.make("disk", on: .disk)
      guard mount("tmpfs", folder.path, "tmpfs", 0, "size=\(megabytes)m,mode=755") == 0 else { return nil }
      self.folder = folder
      ballast = nil
    #else
      return nil
    #endif
  }

  package func unmount() {
    #if os(Linux)
      guard let ballast else {
        _ = umount2(folder.path, Int32(MNT_DETACH))
        return
      }
      for leftover in [folder, ballast] { try? FileManager.default.removeItem(at: leftover) }
    #endif
  }

  #if os(Linux)
    /// Writes a file until its file system is full, and shortens it by the space to leave.
    private static func fill(_ file: URL, leaving free: Int) throws {
      let descriptor = open(file.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw PersistenceError.system(errno, while: "create", at: file.path) }
      defer { close(descriptor) }
      // No file system compresses or shares random bytes.
      var generator = SystemRandomNumberGenerator()
      let words = (0..<8192).map { _ in generator.next() as UInt64 }
      var size = 0
      while true {
        let written = words.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard written > 0 else { break }
        size += written
      }
      guard size > free, ftruncate(descriptor, off_t(size - free)) == 0, fsync(descriptor) == 0 else {
        throw PersistenceError.system(errno, while: "fill the disk of", at: file.path)
      }
      // btrfs gives back space when it has written its trees.
      sync()
    }
  #endif
}
