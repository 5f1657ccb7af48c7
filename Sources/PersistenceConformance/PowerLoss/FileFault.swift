import Foundation

/// Calls of the worker that the recorder fails, as a broken or full medium or an exhausted system does.
struct FileFault: Hashable, CustomStringConvertible {
  /// A class of calls, in the order of `recorder_log.c`.
  enum Calls: String, CaseIterable {
    case write, sync, open, name, map, allocate

    /// One call of the class, in words.
    var text: String {
      switch self {
      case .write: "write"
      case .sync: "synchronization"
      case .open: "opening of a file"
      case .name: "creation, renaming or removal of a name"
      case .map: "memory map"
      case .allocate: "allocation of a C library"
      }
    }
  }

  var calls: Calls
  var code: Int32
  /// The first failing call, from 1.
  var first: Int
  /// Whether all later calls fail too, instead of this one only.
  var isLasting: Bool

  /// Each class with the errors that it can meet.
  ///
  /// Network file systems, and those that allocate late, report a full disk when they synchronize.
  static let kinds: [(calls: Calls, code: Int32)] = [
    (.write, ENOSPC), (.write, EIO), (.sync, EIO), (.sync, ENOSPC), (.open, EMFILE), (.name, ENOSPC),
    (.name, EIO), (.map, ENOMEM), (.allocate, ENOMEM),
  ]

  /// The value of the recorder's environment variable.
  var environment: String { "\(calls.rawValue):\(first):\(isLasting ? 0 : first):\(code)" }

  var description: String {
    let name = [ENOSPC: "ENOSPC", EIO: "EIO", EMFILE: "EMFILE", ENOMEM: "ENOMEM"][code] ?? "\(code)"
    return isLasting
      ? "every \(calls.text) from number \(first) failed with \(name)"
      : "\(calls.text) \(first) failed with \(name)"
  }
}
