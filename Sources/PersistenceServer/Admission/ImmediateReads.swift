#if HTTP
  import Foundation
  import PersistenceDriver
  import Synchronization

  /// Reads single records on the threads of tasks: the way to a thread that may block takes longer than such a read.
  ///
  /// Half of those threads stay free, because a disk may be slow.
  final class ImmediateReads: Sendable {
    private let free: Atomic<Int>

    /// Allows reads of a store in this process that no other program delays; those of a server or behind locks may wait.
    init(of context: any StorageContext) {
      let capabilities = context.capabilities
      let isHere = capabilities.hasFiles || (!capabilities.isDurable && !capabilities.isMultiProcess)
      let mayWait = capabilities.readersBlockWriters || capabilities.pins != nil
      free = Atomic(isHere && !mayWait ? ProcessInfo.processInfo.activeProcessorCount / 2 : 0)
    }

    /// Calls a closure now; returns nil if it must run on a thread that may block.
    func run<Result>(_ body: () throws -> Result) rethrows -> Result? {
      guard free.subtract(1, ordering: .relaxed).newValue >= 0 else {
        free.add(1, ordering: .relaxed)
        return nil
      }
      defer { free.add(1, ordering: .relaxed) }
      return try body()
    }
  }
#endif
