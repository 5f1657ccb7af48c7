#if HTTP
  import Foundation
  import PersistenceDriver
  import Synchronization

  /// Reads single records and short pages on the threads of tasks: the way to a thread that may block takes about as long
  /// as such a read.
  ///
  /// Half of those threads stay free, because a disk may be slow.
  final class ImmediateReads: Sendable {
    /// How often a task tries to read a record: the reads in progress take less time than the way to another thread.
    private static let attempts = 4
    /// How often a task tries to read a page: the reads in progress take longer, as long as the work of a few other tasks.
    private static let pageAttempts = 8

    /// Whether the store may be read on the threads of tasks.
    private let isAllowed: Bool
    /// Whether its pages may be, too: the engine counts the entries that it examines.
    private let allowsPages: Bool
    private let free: Atomic<Int>

    /// The check for interruptions at which a page is too long: after some hundred entries, and at most after some thousand.
    private static let pageChecks = 8
    /// A page that takes longer has met a slow disk, or a very busy machine.
    private static let pageTime = Duration.milliseconds(20)
    private static let pauses = 8...1024
    /// How many pages after a long one are read on other threads, and how many of them are left.
    private let pause = Atomic<Int>(0)
    private let pausedPages = Atomic<Int>(0)

    /// Allows reads of a store in this process that no other program delays; those of a server or behind locks may wait.
    init(of context: any StorageContext) {
      let capabilities = context.capabilities
      let isHere = capabilities.hasFiles || (!capabilities.isDurable && !capabilities.isMultiProcess)
      let mayWait = capabilities.readersBlockWriters || capabilities.pins != nil
      let threads = isHere && !mayWait ? ProcessInfo.processInfo.activeProcessorCount / 2 : 0
      isAllowed = threads > 0
      allowsPages = isAllowed && capabilities.hasFiles && capabilities.evaluatesPredicates
      free = Atomic(threads)
    }

    /// Calls a closure on the thread of the task; returns nil if it must run on a thread that may block.
    ///
    /// While other reads occupy all of these threads, the task yields a few times to other tasks.
    func run<Result>(_ body: () throws -> Result) async throws -> Result? {
      guard isAllowed, await enter(trying: Self.attempts) else { return nil }
      defer { free.add(1, ordering: .relaxed) }
      return try body()
    }

    /// Calls a closure that reads a page like ``run(_:)``; returns nil if another thread must read it.
    ///
    /// A page that turns out to be long is interrupted, and read again elsewhere. After it, others are not tried for a while.
    func runPage<Result>(_ body: () throws -> Result) async throws -> Result? {
      guard allowsPages, mayTryPage(), await enter(trying: Self.pageAttempts) else { return nil }
      defer { free.add(1, ordering: .relaxed) }
      let start = ContinuousClock.now
      let interruption = ReadInterruption(
        atCheck: Self.pageChecks, PersistenceError(.timedOut, "the page is too long for a thread of tasks"))
      do {
        let result = try interruption.run(body)
        notePage(isShort: ContinuousClock.now - start < Self.pageTime)
        return result
      } catch {
        guard interruption.checkCount >= Self.pageChecks else { throw error }
        notePage(isShort: false)
        return nil
      }
    }

    private func mayTryPage() -> Bool {
      guard pausedPages.load(ordering: .relaxed) > 0 else { return true }
      return pausedPages.subtract(1, ordering: .relaxed).oldValue <= 0
    }

    private func notePage(isShort: Bool) {
      let last = pause.load(ordering: .relaxed)
      if isShort {
        // Not at once, so that few pages are read twice where long and short ones alternate.
        if last > 0 { pause.store(last / 2, ordering: .relaxed) }
      } else {
        let next = min(max(2 * last, Self.pauses.lowerBound), Self.pauses.upperBound)
        pause.store(next, ordering: .relaxed)
        pausedPages.store(next, ordering: .relaxed)
      }
    }

    private func enter(trying attempts: Int) async -> Bool {
      for _ in 1..<attempts {
        if enter() { return true }
        await Task.yield()
      }
      return enter()
    }

    private func enter() -> Bool {
      guard free.load(ordering: .relaxed) > 0 else { return false }
      if free.subtract(1, ordering: .relaxed).newValue >= 0 { return true }
      free.add(1, ordering: .relaxed)
      return false
    }
  }
#endif
