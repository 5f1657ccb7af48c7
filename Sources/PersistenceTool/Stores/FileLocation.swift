import Foundation

/// The location of a path with symbolic links resolved, whether or not a file exists.
struct FileLocation {
  /// The absolute path without symbolic links.
  let path: String
  /// Whether the path is neither a file nor a folder, for example a pipe or `/dev/null`: writing destroys nothing, and
  /// it cannot be replaced.
  let isSpecial: Bool
  /// The device and inode; nil if the file does not exist.
  private let identity: [UInt64]?

  init(_ path: String) {
    self.path = Self.resolved(path, links: 0)
    var status = stat()
    guard stat(self.path, &status) == 0 else {
      (isSpecial, identity) = (false, nil)
      return
    }
    isSpecial = ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    identity = [UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino)]
  }

  func isSame(as other: FileLocation) -> Bool {
    path == other.path || (identity != nil && identity == other.identity)
  }

  func isWithin(_ folder: FileLocation) -> Bool { path.hasPrefix(folder.path + "/") }

  private static func resolved(_ path: String, links: Int) -> String {
    if let real = realpath(path, nil) {
      defer { free(real) }
      return String(cString: real)
    }
    let url = URL(fileURLWithPath: path).standardizedFileURL
    let folder = url.deletingLastPathComponent().path
    guard folder != url.path else { return path }
    // A link's target may be created later.
    if links < 32, let target = try? FileManager.default.destinationOfSymbolicLink(atPath: url.path) {
      return resolved(target.hasPrefix("/") ? target : folder + "/" + target, links: links + 1)
    }
    let above = resolved(folder, links: links)
    return (above == "/" ? "" : above) + "/" + url.lastPathComponent
  }
}
