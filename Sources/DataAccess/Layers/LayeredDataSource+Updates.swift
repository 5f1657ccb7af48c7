public import PersistenceCore
import PersistenceDriver
import Synchronization

extension LayeredDataSource {
  /// The result of a query, again after local changes and those of the remote layer.
  ///
  /// Local changes are the commits to a local ``RepositoryDataSource``, by this and other processes, waiting writes
  /// included. The changes of a remote layer that is a ``ChangeTrackingDataSource`` are stored in the other layers, also
  /// after its connection was lost; objects that cannot be stored become stale. Without a connection, updates show the
  /// local state. If no layer has an answer, they ask again until one does.
  ///
  /// - Parameters:
  ///   - query: The predicate, order and limits; all objects by default.
  ///   - following: The delays before a lost connection is made again, and before layers that failed are asked again.
  /// - Returns: The updates. They end with ``PersistenceError/Code/unsupported`` if no layer tells its changes, and with
  ///   errors that are not retryable, such as ``PersistenceError/Code/unauthorized``.
  public func updates(
    _ query: FetchOptions<Object> = FetchOptions(), following: FollowingOptions = FollowingOptions()
  ) -> DataSourceStream<DataSourceUpdate<Object>> {
    let core = core
    return DataSourceStream { LayeredResult(core, query, following).next }
  }
}

extension DataSourceQuery {
  /// The result of the query, again after local changes and those of the remote layer; see
  /// ``LayeredDataSource/updates(_:following:)``.
  ///
  /// - Parameter following: The delays before a lost connection is made again.
  /// - Returns: The updates.
  public func updates<Object>(following: FollowingOptions = FollowingOptions())
    -> DataSourceStream<DataSourceUpdate<Object>> where Source == LayeredDataSource<Object>
  {
    source.updates(options, following: following)
  }
}

/// What the layers have told to one iteration.
private final class LayerSignals: Sendable {
  private struct State {
    var isDue = false
    var mustAskTop = false
    var error: PersistenceError?
  }

  private let state = Mutex(State())
  private let signal: AsyncStream<Void>.Continuation
  let signals: AsyncStream<Void>

  init() { (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

  func send(mustAskTop: Bool = false) {
    state.withLock { state in
      state.isDue = true
      if mustAskTop { state.mustAskTop = true }
    }
    signal.yield()
  }

  func fail(_ error: PersistenceError) {
    state.withLock { $0.error = error }
    signal.yield()
  }

  /// Takes what was told since the last call: nil for nothing, and otherwise whether to ask the top layer.
  func take() throws(PersistenceError) -> Bool? {
    let taken = state.withLock { state in
      defer { (state.isDue, state.mustAskTop) = (false, false) }
      return state
    }
    if let error = taken.error { throw error }
    return taken.isDue ? taken.mustAskTop : nil
  }
}

/// One iteration over the results of a query of the layers.
private final class LayeredResult<Object: PersistentRecord>: @unchecked Sendable {  // one task
  private let core: LayerCore<Object>
  private let query: FetchOptions<Object>
  private let following: FollowingOptions
  private let signals = LayerSignals()
  private var iterator: AsyncStream<Void>.AsyncIterator
  private var tasks: [Task<Void, Never>] = []
  private var result = ResultChanges<Object>()
  /// Asks the top layer again, which failed.
  private var retry: Task<Void, Never>?
  private var pause: RetryPause

  init(_ core: LayerCore<Object>, _ query: FetchOptions<Object>, _ following: FollowingOptions) {
    (self.core, self.query, self.following) = (core, query, following)
    iterator = signals.signals.makeAsyncIterator()
    pause = RetryPause(following)
  }

  deinit {
    retry?.cancel()
    for task in tasks { task.cancel() }
  }

  @Sendable
  func next() async throws(PersistenceError) -> DataSourceUpdate<Object>? {
    let layerQuery = try mappingErrors { try LayerQuery<Object>(query) }
    if tasks.isEmpty { try begin() }
    while !Task.isCancelled {
      if let mustAskTop = try signals.take() {
        do throws(PersistenceError) {
          let answer = try await mustAskTop ? core.newestAnswer(layerQuery) : core.changedAnswer(layerQuery)
          if mustAskTop {
            if isDue(after: answer) { askAgain() } else { endRetries() }
          }
          if let changes = try mappingErrors({ try result.replace(with: answer.value) }) {
            return DataSourceUpdate(objects: answer.value, changes: changes)
          }
        } catch {
          if Task.isCancelled { return nil }
          guard error.isRetryable else { throw error }
          askAgain()
        }
      }
      guard await iterator.next() != nil else { return nil }
    }
    return nil
  }

  /// Whether the top layer was out of reach: the changes that follow do not contain those from before.
  private func isDue(after answer: LayeredAnswer<[Object]>) -> Bool {
    core.changeSource != nil
      && answer.failures.contains { $0.layer == core.top && $0.error.isRetryable }
  }

  private func endRetries() {
    retry?.cancel()
    retry = nil
    pause.end()
  }

  /// Asks the top layer later.
  private func askAgain() {
    retry?.cancel()
    let (signals, clock, delay) = (signals, following.clock, pause.next())
    retry = Task {
      do { try await clock.sleep(for: delay) } catch { return }
      signals.send(mustAskTop: true)
    }
  }

  /// Starts to observe the layers.
  private func begin() throws(PersistenceError) {
    signals.send(mustAskTop: true)
    let (signals, core, following) = (signals, core, following)
    if let local = core.local {
      let updates = local.updates(FetchOptions(predicate: query.predicate))
      tasks.append(
        Task {
          do throws(PersistenceError) {
            // An update's results hold a snapshot only until the next line.
            var iterator = updates.makeAsyncIterator()
            while try await iterator.next(isolation: nil) != nil { signals.send() }
          } catch {
            signals.fail(error)
          }
        })
    }
    if let source = core.changeSource {
      tasks.append(Task { await Self.follow(source, core, following, signals) })
    }
    guard !tasks.isEmpty else {
      throw PersistenceError.unsupported(
        "be observed; use a RepositoryDataSource as the local layer, or a remote layer that tells its changes",
        by: "a layered data source over these layers")
    }
  }

  /// Stores the changes of the remote layer, as its events tell of them.
  private static func follow(
    _ source: some ChangeTrackingDataSource<Object>, _ core: LayerCore<Object>, _ following: FollowingOptions,
    _ signals: LayerSignals
  ) async {
    let follower = ChangeFollower(source, since: nil, following)
    var pause = RetryPause(following)
    /// The position up to which the replicas have the changes.
    var stored: DataSourceCheckpoint?
    do throws(PersistenceError) {
      while let event = try await follower.next() {
        core.breaker.close()
        guard let since = stored, !event.isReset else {
          // What the layers had before is of unknown age, so the query asks the top layer.
          stored = event.checkpoint
          signals.send(mustAskTop: true)
          continue
        }
        if event.saved.isEmpty, event.deleted.isEmpty { continue }
        while !Task.isCancelled {
          do throws(PersistenceError) {
            stored = try await core.storeChanges(of: source, since: since, &pause)
            pause.end()
            signals.send()
            break
          } catch  where error.code == .checkpointExpired {
            stored = event.checkpoint
            signals.send(mustAskTop: true)
            break
          } catch  where error.isRetryable {
            guard await pause.wait() else { return }
          }
        }
      }
    } catch {
      signals.fail(error)
    }
  }
}
