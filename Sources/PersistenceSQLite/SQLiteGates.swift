import PersistenceDriver
import Synchronization

/// One writer's gate for each file, whatever contexts of this process have it open.
enum SQLiteGates {
  private struct Weak: Sendable {
    weak let gate: WriterGate?
  }

  private static let gates = Mutex<[String: Weak]>([:])

  /// Whether a context of this process has a file open.
  static func isOpen(_ path: String) -> Bool { gates.withLock { $0[path]?.gate != nil } }

  /// The gate of a file.
  ///
  /// - Parameter path: The file's path, without links in it.
  /// - Returns: The one gate of all contexts that are alive.
  static func gate(for path: String) -> WriterGate {
    gates.withLock { gates in
      if let known = gates[path]?.gate { return known }
      gates = gates.filter { $0.value.gate != nil }
      let gate = WriterGate()
      gates[path] = Weak(gate: gate)
      return gate
    }
  }
}
