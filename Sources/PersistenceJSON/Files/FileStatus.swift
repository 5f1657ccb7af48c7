import Foundation

/// The status of a file: equal until the file is changed or replaced.
struct FileStatus: Hashable, Sendable {
  let size: Int
  let inode: UInt64
  let modified: FileTime
  /// The time of the last change of content or metadata, which no program can set.
  ///
  /// Equality ignores it, since a hard link in the history changes it too.
  let changed: FileTime
  var isRegular = true

  static func == (left: FileStatus, right: FileStatus) -> Bool {
    left.size == right.size && left.inode == right.inode && left.modified == right.modified
      && left.isRegular == right.isRegular
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(size)
    hasher.combine(inode)
    hasher.combine(modified)
    hasher.combine(isRegular)
  }

  /// Whether neither content nor metadata changed since another status.
  func isUntouched(since other: FileStatus) -> Bool { self == other && changed == other.changed }

  /// A hash of the status, for cheap comparison; never 0.
  var stamp: UInt64 { UInt64(bitPattern: Int64(hashValue)) | 1 }

  /// Whether the content was certainly changed after a moment.
  ///
  /// A time in the future is ignored: clocks are set back, and archives keep their times.
  func isModified(after moment: FileTime) -> Bool { moment < modified && modified <= .now }

  /// Whether the status will show any later change: the last change is older than a tick of the file system's
  /// clock.
  var isSettled: Bool { modified.isPast(at: .now) }

  /// Whether the status will show any change from a moment on, even if a program resets the modification
  /// time.
  func isSettled(at moment: FileTime) -> Bool { modified.isPast(at: moment) && changed.isPast(at: moment) }
}

extension FileStatus {
  init(_ status: stat) {
    #if canImport(Darwin)
      let (modified, changed) = (FileTime(status.st_mtimespec), FileTime(status.st_ctimespec))
    #else
      let (modified, changed) = (FileTime(status.st_mtim), FileTime(status.st_ctim))
    #endif
    self.init(
      size: Int(clamping: status.st_size), inode: UInt64(status.st_ino), modified: modified, changed: changed,
      isRegular: status.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG))
  }
}
