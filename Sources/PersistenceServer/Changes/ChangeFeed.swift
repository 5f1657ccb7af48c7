#if HTTP
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport
  import Synchronization

  /// The changes of one model, which begin with the first request for a checkpoint.
  ///
  /// A pull pins a snapshot and takes exactly the changes in it, so no change lies between a snapshot and its checkpoint.
  final class ChangeFeed: Sendable {
    /// The changed keys between a checkpoint and a snapshot.
    struct Pull: Sendable {
      let snapshot: any StorageSnapshot
      /// The oldest changes, each with its number; nil if some may be unknown since the checkpoint.
      let keys: [(key: RecordKey, number: UInt64)]?
      /// The newest checkpoint, which the snapshot shows exactly.
      let newest: Checkpoint
    }

    private struct State {
      var ring: ChangeRing
      var observer: CommitObserver?
      var hadModel = false
      var isGone = false
    }

    private let model: String
    private let observers: CommitObservers
    private let limit: Int
    private let state: Lock<State>
    /// The waiting streams, and the task that wakes them.
    private let watch = Mutex(Watch())

    private struct Watch {
      var signals: [Int: AsyncStream<Void>.Continuation] = [:]
      var lastID = 0
      var task: Task<Void, Never>?
    }

    init(_ model: String, _ observers: CommitObservers, limit: Int) {
      (self.model, self.observers, self.limit) = (model, observers, limit)
      state = Lock(State(ring: ChangeRing(limit: limit)))
    }

    deinit {
      watch.withLock(\.task)?.cancel()
      if let observer = state.withLock(\.observer) { observers.remove(observer) }
    }

    /// Pins the newest state, with the keys that have changed since a checkpoint.
    ///
    /// - Parameters:
    ///   - checkpoint: The checkpoint; nil for no keys.
    ///   - count: The maximum number of keys.
    ///   - schema: The declaration to observe with, if the store does not have the model yet.
    ///   - context: The store.
    /// - Returns: The snapshot and the keys.
    /// - Throws: Errors of reading, and ``PersistenceError/Code/incompleteStore`` during a migration.
    func pull(
      since checkpoint: Checkpoint?, limit count: Int, _ schema: ModelSchema, in context: any StorageContext
    ) throws -> Pull {
      var hasChanged = false
      // Also if it fails after it has taken changes: the next pull would not find them new.
      defer { if hasChanged { wake() } }
      return try state.withLock { state in
        let before = state.ring.checkpoint
        defer { hasChanged = state.ring.checkpoint != before }
        let snapshot = try advance(&state, schema, context)
        var keys: [(key: RecordKey, number: UInt64)]? = []
        if let checkpoint { keys = state.ring.keys(since: checkpoint, limit: count) }
        return Pull(snapshot: snapshot, keys: keys, newest: state.ring.checkpoint)
      }
    }

    /// Whether the store has renamed or dropped the model, so that the changes go on in another feed.
    var isGone: Bool { state.withLock(\.isGone) }

    private func advance(_ state: inout State, _ schema: ModelSchema, _ context: any StorageContext) throws
      -> any StorageSnapshot
    {
      let snapshot = try look(&state, schema, context)
      let hasModel = try snapshot.schema(named: model) != nil
      if state.hadModel, !hasModel { state.isGone = true }
      state.hadModel = hasModel
      // A client that tries again finds the model under its new name.
      if state.isGone { throw PersistenceError(.busy, "the store has renamed or dropped “\(model)”") }
      return snapshot
    }

    /// Pins the newest state, and adds the changes in it to the ring.
    private func look(_ state: inout State, _ schema: ModelSchema, _ context: any StorageContext) throws
      -> any StorageSnapshot
    {
      if let observer = state.observer {
        do {
          let (snapshot, changes) = try observers.look(observer, at: context)
          if changes.isUnknown {
            state.ring.restart()
            var isComplete = false
            // Otherwise the next pull would not ask.
            defer { if !isComplete { observers.discardKeys(of: observer) } }
            guard try !snapshot.holdsUnfinishedMigration() else {
              throw PersistenceError.incompleteStore(context.location)
            }
            isComplete = true
          }
          for key in changes.entries.keys { state.ring.append(key) }
          return snapshot
        } catch let error as PersistenceError
          where error.code == .schemaMismatch || error.code == .newerStore
        {
          observers.remove(observer)
          state.observer = nil
        }
      }
      // Changes were missed: before the first request, or while the schema changed.
      state.ring.restart()
      let stored = try context.schema(named: model) ?? schema
      // Clients fetch pages between the feed's reads.
      let observer = try CommitObserver(FetchRequest(stored), in: context, keyLimit: limit, keepsUndone: true)
      try observers.add(observer)
      do {
        let snapshot = try observers.look(observer, at: context).snapshot
        state.observer = observer
        return snapshot
      } catch {
        observers.remove(observer)
        throw error
      }
    }

    // MARK: Waiting

    /// Yields to a continuation when there may be changes, until ``removeSignal(_:)``.
    func addSignal(
      _ signal: AsyncStream<Void>.Continuation, _ schema: ModelSchema, in context: any StorageContext
    ) -> Int {
      watch.withLock { watch in
        watch.lastID += 1
        watch.signals[watch.lastID] = signal
        if watch.task == nil { watch.task = watchTask(schema, context) }
        return watch.lastID
      }
    }

    func removeSignal(_ id: Int) {
      watch.withLock { watch in
        watch.signals[id] = nil
        guard watch.signals.isEmpty else { return }
        watch.task?.cancel()
        watch.task = nil
      }
    }

    private func wake() {
      for signal in watch.withLock({ Array($0.signals.values) }) { signal.yield() }
    }

    /// Pulls after each commit, which wakes all streams, until the context is closed.
    private func watchTask(_ schema: ModelSchema, _ context: any StorageContext) -> Task<Void, Never> {
      let observers = observers
      return Task { [weak self] in
        while !Task.isCancelled {
          let hasPulled: Void? = try? await Self.threads.run { [weak self] in
            _ = try self?.pull(since: nil, limit: 0, schema, in: context)
          }
          guard hasPulled != nil, let observer = self?.state.withLock(\.observer) else {
            // The streams meet the error too, and report it or try again.
            self?.wake()
            guard (try? await Task.sleep(for: Self.outsideInterval)) != nil else { return }
            continue
          }
          await Self.wait(for: observer, of: observers)
        }
      }
    }

    /// How often commits of other processes are looked for.
    private static let outsideInterval = Duration.milliseconds(250)

    /// Threads of their own: streams must not wait behind requests.
    private static let threads = BlockingThreads("server changes", limit: 4)

    /// Waits for a commit of this process or another one.
    private static func wait(for observer: CommitObserver, of observers: CommitObservers) async {
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await observer.wait() }
        if observers.noticesOutsideCommits {
          group.addTask {
            while (try? await Task.sleep(for: outsideInterval)) != nil {
              // The other task wakes for the changes that are found here.
              _ = try? await threads.run { try observers.checkOutside() }
            }
          }
        }
        await group.next()
        group.cancelAll()
      }
    }
  }
#endif
