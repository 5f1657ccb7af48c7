import DataAccess
import Foundation
import PersistenceCore
import Synchronization

/// A remote data source that records batches, and treats each as a test says.
final class BatchRecorder: DataSource {
  /// A request with a batch.
  struct Request: Sendable {
    let batch: ChangeBatch<Note>
    /// Whether this request applied the changes.
    var isApplied = false

    var texts: [String] { batch.changes.map(\.object.text) }
  }

  /// What happens to a batch.
  enum Behavior: Sendable {
    case genuine
    case failure(PersistenceError)
    case lost(PersistenceError)
    /// The request never arrives, and its sender waits.
    case hangsBefore
    /// The batch is applied, and its sender waits.
    case hangsAfter
  }

  typealias Rule = @Sendable (ChangeBatch<Note>, _ number: Int) -> Behavior

  let base: AnyDataSource<Note>
  let batchLimits: BatchLimits?
  private let state: Mutex<State>

  private struct State {
    var requests: [Request] = []
    var rule: Rule
    var isHanging = false
    var isClosed = false
    var watchers: [CheckedContinuation<Void, Never>] = []
  }

  init(
    _ objects: [Note] = [], limits: BatchLimits? = BatchLimits(),
    rule: @escaping Rule = { _, _ in .genuine }
  ) throws {
    base = AnyDataSource(try RepositoryDataSource<Note>.inMemory(objects))
    batchLimits = limits
    state = Mutex(State(rule: rule))
  }

  /// The requests with batches so far, in order.
  var requests: [Request] { state.withLock(\.requests) }

  /// The changes that were applied, in order.
  var applied: [ObjectChange<Note>] { requests.filter(\.isApplied).flatMap(\.batch.changes) }

  /// Forgets the requests, and treats the next ones by a rule, whose numbers start at 0.
  func begin(_ rule: @escaping Rule) {
    state.withLock { state in
      (state.requests, state.rule, state.isHanging, state.isClosed) = ([], rule, false, false)
    }
  }

  /// Waits until a request hangs; false if ``close()`` is called first.
  func hangs() async -> Bool {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if state.isHanging || state.isClosed { return true }
        state.watchers.append(continuation)
        return false
      }
      if isOver { continuation.resume() }
    }
    return state.withLock(\.isHanging)
  }

  /// Ends ``hangs()``.
  func close() { finish { $0.isClosed = true } }

  private func finish(_ change: (inout State) -> Void) {
    let watchers = state.withLock { state in
      change(&state)
      defer { state.watchers = [] }
      return state.watchers
    }
    for watcher in watchers { watcher.resume() }
  }

  private func hang() async -> PersistenceError {
    finish { $0.isHanging = true }
    let (never, _) = AsyncStream.makeStream(of: Never.self)
    for await _ in never {}
    return PersistenceError(.cancelled, "the sender is gone")
  }

  func apply(_ batch: ChangeBatch<Note>) async throws(PersistenceError) -> Bool {
    let (number, rule) = state.withLock { state in
      state.requests.append(Request(batch: batch))
      return (state.requests.count - 1, state.rule)
    }
    let behavior = rule(batch, number)
    switch behavior {
    case .failure(let error): throw error
    case .hangsBefore: throw await hang()
    case .genuine, .lost, .hangsAfter: break
    }
    let isNew = try await base.apply(batch)
    if isNew { state.withLock { $0.requests[number].isApplied = true } }
    switch behavior {
    case .lost(let error): throw error
    case .hangsAfter: throw await hang()
    default: return isNew
    }
  }

  func insert(_ object: Note) async throws(PersistenceError) -> Note { try await base.insert(object) }
  func update(_ object: Note) async throws(PersistenceError) -> Note { try await base.update(object) }
  func update(_ object: Note, replacing old: Note) async throws(PersistenceError) -> Note {
    try await base.update(object, replacing: old)
  }
  func save(_ object: Note) async throws(PersistenceError) -> Note { try await base.save(object) }
  func delete(_ object: Note) async throws(PersistenceError) -> Note? { try await base.delete(object) }
  func find(_ key: Int) async throws(PersistenceError) -> Note? { try await base.find(key) }
  func execute(_ query: FetchOptions<Note>) async throws(PersistenceError) -> [Note] {
    try await base.execute(query)
  }
  func count(_ query: FetchOptions<Note>) async throws(PersistenceError) -> Int {
    try await base.count(query)
  }
}

extension ChangeBatch<Note> {
  func contains(_ text: String) -> Bool { changes.contains { $0.object.text == text } }
}
