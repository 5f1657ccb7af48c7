import DataAccess
import PersistenceCore
import Synchronization

/// A data source whose reads and single writes a test executes and answers one step at a time.
///
/// Batches are applied at once, or treated as the next scripted behavior says.
final class SteppedDataSource: DataSource {
  enum Mode { case direct, stepped, offline }

  let base: AnyDataSource<Note>
  private let events: LayerEvents
  let batchLimits: BatchLimits? = BatchLimits(changes: 4)
  private let state = Mutex(State())

  private struct State {
    var mode = Mode.direct
    var batches: [BatchRecorder.Behavior] = []
    var applied: Set<String> = []
  }

  init(_ base: any DataSource<Note>, events: LayerEvents) {
    self.base = AnyDataSource(base)
    self.events = events
  }

  var mode: Mode {
    get { state.withLock(\.mode) }
    set { state.withLock { $0.mode = newValue } }
  }

  /// Scripts the next batches; others are genuine.
  var batches: [BatchRecorder.Behavior] {
    get { state.withLock(\.batches) }
    set { state.withLock { $0.batches = newValue } }
  }

  /// Removes and returns the texts of the notes that batches have written since the last call.
  func takeApplied() -> Set<String> {
    state.withLock { state in
      defer { state.applied = [] }
      return state.applied
    }
  }

  private func step<Value: Sendable>(
    _ body: @escaping @Sendable () async throws(PersistenceError) -> Value
  ) async throws(PersistenceError) -> Value {
    switch mode {
    case .direct: return try await body()
    case .offline: throw LayerTestBed.gone
    case .stepped: break
    }
    let result = StepResult<Value>()
    let call = SteppedCall {
      do throws(PersistenceError) { result.value = .success(try await body()) } catch {
        result.value = .failure(error)
      }
    }
    events.send(.call(call))
    if let error = await call.answer() { throw error }
    guard let outcome = result.value else { throw LayerTestBed.broken }
    return try outcome.get()
  }

  func insert(_ object: Note) async throws(PersistenceError) -> Note {
    try await step { [base] () async throws(PersistenceError) in try await base.insert(object) }
  }
  func update(_ object: Note) async throws(PersistenceError) -> Note {
    try await step { [base] () async throws(PersistenceError) in try await base.update(object) }
  }
  func update(_ object: Note, replacing old: Note) async throws(PersistenceError) -> Note {
    try await step { [base] () async throws(PersistenceError) in try await base.update(object, replacing: old)
    }
  }
  func save(_ object: Note) async throws(PersistenceError) -> Note {
    try await step { [base] () async throws(PersistenceError) in try await base.save(object) }
  }
  func delete(_ object: Note) async throws(PersistenceError) -> Note? {
    try await step { [base] () async throws(PersistenceError) in try await base.delete(object) }
  }
  func find(_ key: Int) async throws(PersistenceError) -> Note? {
    try await step { [base] () async throws(PersistenceError) in try await base.find(key) }
  }
  func execute(_ query: FetchOptions<Note>) async throws(PersistenceError) -> [Note] {
    try await step { [base] () async throws(PersistenceError) in try await base.execute(query) }
  }
  func count(_ query: FetchOptions<Note>) async throws(PersistenceError) -> Int {
    try await step { [base] () async throws(PersistenceError) in try await base.count(query) }
  }
  func apply(_ batch: ChangeBatch<Note>) async throws(PersistenceError) -> Bool {
    let (mode, behavior) = state.withLock { state in
      (state.mode, state.batches.isEmpty ? .genuine : state.batches.removeFirst())
    }
    if mode == .offline { throw LayerTestBed.gone }
    if case .failure(let error) = behavior { throw error }
    let isNew = try await base.apply(batch)
    if isNew { state.withLock { $0.applied.formUnion(batch.changes.map(\.object.text)) } }
    if case .lost(let error) = behavior { throw error }
    return isNew
  }
}

/// The result of a call, which outlives its execution.
private final class StepResult<Value: Sendable>: Sendable {
  private let state = Mutex<Result<Value, PersistenceError>?>(nil)

  var value: Result<Value, PersistenceError>? {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}

/// A call in flight.
final class SteppedCall: Sendable {
  private enum State {
    case waiting(CheckedContinuation<PersistenceError?, Never>?)
    case answered(PersistenceError?)
  }

  private let body: @Sendable () async -> Void
  private let state = Mutex(State.waiting(nil))

  init(_ body: @escaping @Sendable () async -> Void) { self.body = body }

  /// Executes the call; its answer travels from now on.
  func execute() async { await body() }

  /// Delivers the answer of the execution, or an error.
  func deliver(_ error: PersistenceError?) {
    let continuation = state.withLock { state -> CheckedContinuation<PersistenceError?, Never>? in
      guard case .waiting(let continuation) = state else { return nil }
      state = .answered(error)
      return continuation
    }
    continuation?.resume(returning: error)
  }

  /// Waits for the delivery, also in a cancelled task.
  func answer() async -> PersistenceError? {
    await withCheckedContinuation { continuation in
      let error = state.withLock { state -> PersistenceError?? in
        if case .answered(let error) = state { return .some(error) }
        state = .waiting(continuation)
        return nil
      }
      if let error { continuation.resume(returning: error) }
    }
  }
}

/// The next event of the operation that a test has started or continued: a call of the remote layer, or its end.
final class LayerEvents: Sendable {
  enum Event: Sendable {
    case call(SteppedCall)
    case ended
  }

  private let state = Mutex((events: [Event](), waiter: CheckedContinuation<Event, Never>?.none))

  func send(_ event: Event) {
    let waiter = state.withLock { state -> CheckedContinuation<Event, Never>? in
      guard let waiter = state.waiter else {
        state.events.append(event)
        return nil
      }
      state.waiter = nil
      return waiter
    }
    waiter?.resume(returning: event)
  }

  func next() async -> Event {
    await withCheckedContinuation { continuation in
      let event = state.withLock { state -> Event? in
        if state.events.isEmpty {
          state.waiter = continuation
          return nil
        }
        return state.events.removeFirst()
      }
      if let event { continuation.resume(returning: event) }
    }
  }
}
