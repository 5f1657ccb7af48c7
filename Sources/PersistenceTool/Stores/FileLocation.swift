import Foundation

/// Where a path leads, symbolic links followed, whether or not there is something yet.
struct FileLocation {
  /// The absolute path, without links.
  let path: String
  /// Whether there is something that is neither a file nor a folder, such as a pipe or `/dev/null`: writing there
  /// destroys nothing, and nothing can be put in its place.
  let isSpecial: Bool
  /// What tells files apart whatever they are called; nil where there is none.
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

  /// Whether both are one file or folder.
  func isSame(as other: FileLocation) -> Bool {
    path == other.path || (identity != nil && identity == other.identity)
  }

  /// Whether this is somewhere below a folder.
  func isWithin(_ folder: FileLocation) -> Bool { path.hasPrefix(folder.path + "/") }

  private static func resolved(_ path: String, links: Int) -> String {
    if let real = realpath(path, nil) {
      defer { free(real) }
      return String(cString: real)
    }
    let url = URL(fileURLWithPath: path).standardizedFileURL
    let folder = url.deletingLastPathComponent().path
    guard folder != url.path else { return path }
    // What a link names may be there later.
    if links < 32, let target = try? FileManager.default.destinationOfSymbolicLink(atPath: url.path) {
      return resolved(target.hasPrefix("/") ? target : folder + "/" + target, links: links + 1)
    }
    let above = resolved(folder, links: links)
    return (above == "/" ? "" : above) + "/" + url.lastPathComponent
  }
}
