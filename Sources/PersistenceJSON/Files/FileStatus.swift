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
  /// When the content or anything else about the file was changed; no program can set it.
  ///
  /// Equality leaves it out, since a second name in the history changes it too.
  let changed: FileTime
  let isRegular: Bool

  init(_ status: stat) {
    size = Int(status.st_size)
    inode = UInt64(status.st_ino)
    #if canImport(Darwin)
      modified = FileTime(status.st_mtimespec)
      changed = FileTime(status.st_ctimespec)
    #else
      modified = FileTime(status.st_mtim)
      changed = FileTime(status.st_ctim)
    #endif
    isRegular = status.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG)
  }

  /// A status that was written down, of an ordinary file.
  init(size: Int, inode: UInt64, modified: FileTime, changed: FileTime) {
    self.size = size
    self.inode = inode
    self.modified = modified
    self.changed = changed
    isRegular = true
  }

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

  /// Whether nothing at all was done to the file since a status was taken.
  func isUntouched(since other: FileStatus) -> Bool { self == other && changed == other.changed }

  /// The status in a word, for telling cheaply whether a file is as it was; never 0.
  var stamp: UInt64 { UInt64(bitPattern: Int64(hashValue)) | 1 }

  /// Whether the content is known to have been changed after a moment.
  ///
  /// A time to come says nothing: clocks are put back, and archives unpacked.
  func isModified(after moment: FileTime) -> Bool { moment < modified && modified <= .now }

  /// Whether a change that follows now is sure to show in the status: the last one is older than a tick of the
  /// clock that the file system stamps files with.
  var isSettled: Bool { modified.isPast(at: .now) }

  /// Whether any change at a moment or after it is sure to show in the status, one that hides itself by setting the
  /// time of the last change included.
  func isSettled(at moment: FileTime) -> Bool { modified.isPast(at: moment) && changed.isPast(at: moment) }
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

  /// Whether a moment is later by more than a tick of the clock that this time was read from.
  func isPast(at moment: FileTime) -> Bool {
    // File systems without fractions of a second count in steps of up to two seconds.
    let tick =
      nanoseconds == 0
      ? FileTime(seconds: 2, nanoseconds: 0) : FileTime(seconds: 0, nanoseconds: 50_000_000)
    return advanced(by: tick).map { $0 < moment } ?? false
  }

  /// The moment that is so much later; nil where no clock gets there.
  func advanced(by other: FileTime) -> FileTime? {
    let sum = nanoseconds + other.nanoseconds
    let (whole, isBeyond) = seconds.addingReportingOverflow(other.seconds + sum / 1_000_000_000)
    return isBeyond ? nil : FileTime(seconds: whole, nanoseconds: sum % 1_000_000_000)
  }
}
