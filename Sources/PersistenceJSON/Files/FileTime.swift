import Foundation

/// A moment on the clock of the file system.
struct FileTime: Hashable, Comparable, Sendable {
  let seconds: Int
  let nanoseconds: Int

  static var now: FileTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return FileTime(time)
  }

  static func < (left: FileTime, right: FileTime) -> Bool {
    (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
  }

  /// Whether a moment is later by more than a tick of this time's clock.
  func isPast(at moment: FileTime) -> Bool {
    // File systems without fractions of a second have ticks of up to two seconds.
    let tick =
      nanoseconds == 0
      ? FileTime(seconds: 2, nanoseconds: 0) : FileTime(seconds: 0, nanoseconds: 50_000_000)
    return advanced(by: tick).map { $0 < moment } ?? false
  }

  /// The moment after an interval; nil on overflow.
  func advanced(by other: FileTime) -> FileTime? {
    let sum = nanoseconds + other.nanoseconds
    let (whole, isBeyond) = seconds.addingReportingOverflow(other.seconds + sum / 1_000_000_000)
    return isBeyond ? nil : FileTime(seconds: whole, nanoseconds: sum % 1_000_000_000)
  }
}

extension FileTime {
  init(_ time: timespec) { self.init(seconds: Int(time.tv_sec), nanoseconds: Int(time.tv_nsec)) }
}
