#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What the file system knows of a file: equal as long as nobody changed or replaced it.
struct FileStatus: Hashable, Sendable {
  let size: Int
  let inode: UInt64
  let modified: FileTime
  let isRegular: Bool

  init(_ status: stat) {
    size = Int(status.st_size)
    inode = UInt64(status.st_ino)
    #if canImport(Darwin)
      modified = FileTime(status.st_mtimespec)
    #else
      modified = FileTime(status.st_mtim)
    #endif
    isRegular = status.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG)
  }

  /// The status in a word, for telling cheaply whether a file is as it was; never 0.
  var stamp: UInt64 { UInt64(bitPattern: Int64(hashValue)) | 1 }

  /// Whether the content is known to have been changed after a moment.
  ///
  /// A time to come says nothing: clocks are put back, and archives unpacked.
  func isModified(after moment: FileTime) -> Bool { moment < modified && modified <= .now }

  /// Whether a change that follows now is sure to show in the status: the last one is older than a tick of the
  /// clock that the file system stamps files with.
  var isSettled: Bool {
    // File systems without fractions of a second count in steps of up to two seconds.
    let tick =
      modified.nanoseconds == 0
      ? FileTime(seconds: 2, nanoseconds: 0) : FileTime(seconds: 0, nanoseconds: 50_000_000)
    return modified.advanced(by: tick) < .now
  }
}

/// A moment on the clock that files are stamped with.
struct FileTime: Hashable, Comparable, Sendable {
  let seconds: Int
  let nanoseconds: Int

  init(seconds: Int, nanoseconds: Int) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  init(_ time: timespec) { self.init(seconds: Int(time.tv_sec), nanoseconds: Int(time.tv_nsec)) }

  static var now: FileTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return FileTime(time)
  }

  static func < (left: FileTime, right: FileTime) -> Bool {
    (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
  }

  func advanced(by other: FileTime) -> FileTime {
    let sum = nanoseconds + other.nanoseconds
    return FileTime(seconds: seconds + other.seconds + sum / 1_000_000_000, nanoseconds: sum % 1_000_000_000)
  }
}
