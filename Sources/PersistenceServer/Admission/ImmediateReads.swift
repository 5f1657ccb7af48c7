#if HTTP
  import Foundation
  import PersistenceDriver
  import Synchronization

  /// Reads single records and brief pages on the threads of tasks: the way to a thread that may block takes longer than
  /// the read of a record, and about as long as that of such a page.
  ///
  /// Half of those threads stay free, because a disk may be slow.
  final class ImmediateReads: Sendable {
    /// How often a task tries to read: the reads in progress take less time than the way to another thread.
    private static let attempts = 4

    /// Whether the store may be read on the threads of tasks.
    private let isAllowed: Bool
    private let free: Atomic<Int>

    /// Allows reads of a store in this process that no other program delays; those of a server or behind locks may wait.
    init(of context: any StorageContext) {
      let capabilities = context.capabilities
      let isHere = capabilities.hasFiles || (!capabilities.isDurable && !capabilities.isMultiProcess)
      let mayWait = capabilities.readersBlockWriters || capabilities.pins != nil
      let threads = isHere && !mayWait ? ProcessInfo.processInfo.activeProcessorCount / 2 : 0
      isAllowed = threads > 0
      free = Atomic(threads)
    }

    /// Calls a closure on the thread of the task; returns nil if it must run on a thread that may block.
    ///
    /// While other reads occupy all of these threads, the task yields a few times to other tasks.
    func run<Result>(_ body: () throws -> Result) async throws -> Result? {
      guard isAllowed else { return nil }
      for attempt in 1...Self.attempts {
        if enter() {
          defer { free.add(1, ordering: .relaxed) }
          return try body()
        }
        if attempt < Self.attempts { await Task.yield() }
      }
      return nil
    }

    private func enter() -> Bool {
      guard free.load(ordering: .relaxed) > 0 else { return false }
      if free.subtract(1, ordering: .relaxed).newValue >= 0 { return true }
      free.add(1, ordering: .relaxed)
      return false
    }
  }
#endif
