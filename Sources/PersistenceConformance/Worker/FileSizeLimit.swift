import Foundation

/// The maximum file size that this process may write.
enum FileSizeLimit {
  /// Lowers the limit; writes beyond it fail with EFBIG.
  static func set(_ bytes: UInt64) {
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
    #if os(Linux)
      _ = setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    #else
      _ = setrlimit(RLIMIT_FSIZE, &limit)
    #endif
  }
}
