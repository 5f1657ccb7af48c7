public import DataAccess
public import PersistenceCore
import Synchronization

/// A data source that follows a test's script: it can delay, fail, hang, truncate or lose answers.
///
/// It wraps another data source, which executes the calls that the script permits. Each call takes the next
/// scripted answer for its operation, or else the default answer.
///
/// ```swift
/// let remote = ScriptedDataSource(try RepositoryDataSource.inMemory(movies), clock: clock)
/// remote.script(.failure(PersistenceError(.unreachable, "no route")), .genuine.after(.seconds(1)), for: .execute)
/// ```
public final class ScriptedDataSource<Object: PersistentRecord>: DataSource {
  private typealias Watcher = (
    isMet: @Sendable ([ScriptedCall]) -> Bool, continuation: CheckedContinuation<Void, Never>
  )

  private struct State {
    var answers: [DataSourceOperation: [ScriptedAnswer]] = [:]
    var otherwise = ScriptedAnswer.genuine
    var calls: [ScriptedCall] = []
    var watchers: [Watcher] = []

    /// Removes and returns the watchers whose condition is met.
    mutating func metWatchers() -> [CheckedContinuation<Void, Never>] {
      let met = watchers.filter { $0.isMet(calls) }.map(\.continuation)
      watchers.removeAll { $0.isMet(calls) }
      return met
    }
  }

  let wrapped: AnyDataSource<Object>
  private let clock: any Clock<Duration>
  private let state = Mutex(State())

  /// Wraps a data source.
  ///
  /// - Parameters:
  ///   - wrapped: The data source that executes the calls.
  ///   - clock: The clock for delays.
  public init(_ wrapped: any DataSource<Object>, clock: any Clock<Duration> = ContinuousClock()) {
    self.wrapped = AnyDataSource(wrapped)
    self.clock = clock
  }

  /// Creates a scripted data source over one in memory.
  ///
  /// - Parameters:
  ///   - objects: The initial objects.
  ///   - clock: The clock for delays.
  /// - Throws: ``PersistenceError`` if two objects have the same key.
  public convenience init(_ objects: [Object] = [], clock: any Clock<Duration> = ContinuousClock()) throws {
    self.init(try RepositoryDataSource.inMemory(objects), clock: clock)
  }

  /// Whether the wrapped data source returns objects in contract order.
  public var hasContractOrder: Bool { wrapped.hasContractOrder }

  /// The limits of a batch that joins several writes of the wrapped data source.
  public var batchLimits: BatchLimits? { wrapped.batchLimits }

  // MARK: The script

  /// Adds answers for the next calls of some operations.
  ///
  /// - Parameters:
  ///   - answers: The answers, one for each call, in order.
  ///   - operations: The operations, each of which gets all of these answers.
  public func script(_ answers: ScriptedAnswer..., for operations: DataSourceOperation...) {
    state.withLock { state in
      for operation in operations { state.answers[operation, default: []] += answers }
    }
  }

  /// Sets the default answer, for calls without a scripted one.
  ///
  /// - Parameter answer: The answer; initially ``ScriptedAnswer/genuine``.
  public func answerOtherwise(_ answer: ScriptedAnswer) { state.withLock { $0.otherwise = answer } }

  /// The calls so far, in order.
  public var calls: [ScriptedCall] { state.withLock(\.calls) }

  /// Waits until the calls meet a condition.
  ///
  /// - Parameter condition: The condition, evaluated whenever a call starts or ends.
  public func calls(where condition: @escaping @Sendable ([ScriptedCall]) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isMet = state.withLock { state in
        if condition(state.calls) { return true }
        state.watchers.append((condition, continuation))
        return false
      }
      if isMet { continuation.resume() }
    }
  }

  // MARK: Data source

  /// Inserts an object, as the script permits.
  @discardableResult
  public func insert(_ object: Object) async throws(PersistenceError) -> Object {
    try await perform(.insert) { try await $0.insert(object) }
  }

  /// Replaces the object of the same key, as the script permits.
  @discardableResult
  public func update(_ object: Object) async throws(PersistenceError) -> Object {
    try await perform(.update) { try await $0.update(object) }
  }

  /// Replaces the object of the same key if it equals the expected one, as the script permits.
  @discardableResult
  public func update(_ object: Object, replacing expected: Object) async throws(PersistenceError) -> Object {
    try await perform(.update) { try await $0.update(object, replacing: expected) }
  }

  /// Inserts or replaces an object, as the script permits.
  @discardableResult
  public func save(_ object: Object) async throws(PersistenceError) -> Object {
    try await perform(.save) { try await $0.save(object) }
  }

  /// Deletes the object of the same key, as the script permits.
  @discardableResult
  public func delete(_ object: Object) async throws(PersistenceError) -> Object? {
    try await perform(.delete) { try await $0.delete(object) }
  }

  /// Applies a batch, as the script permits.
  @discardableResult
  public func apply(_ batch: ChangeBatch<Object>) async throws(PersistenceError) -> Bool {
    try await perform(.apply) { try await $0.apply(batch) }
  }

  /// The object of a key, or the scripted answer.
  public func find(_ key: Object.PrimaryKey) async throws(PersistenceError) -> Object? {
    try await perform(.find) { try await $0.find(key) }
  }

  /// All objects that match a query, or the scripted answer.
  public func execute(_ query: FetchOptions<Object>) async throws(PersistenceError) -> [Object] {
    try await perform(.execute, truncate: { Array($0.prefix($1)) }) { try await $0.execute(query) }
  }

  /// The number of objects that match a query, or the scripted answer.
  public func count(_ query: FetchOptions<Object>) async throws(PersistenceError) -> Int {
    try await perform(.count, truncate: { min($0, $1) }) { try await $0.count(query) }
  }

  /// The objects that match a query, in pages, as the script permits.
  public func pages(_ query: FetchOptions<Object>, size: Int) -> DataSourcePages<Object, PersistenceError> {
    DataSourcePages { ScriptedPager(self, query, size: max(1, size)).next }
  }

  // MARK: Answering

  /// Records a call, and takes the next answer for its operation unless an earlier answer continues.
  func begin(
    _ operation: DataSourceOperation, with earlier: ScriptedAnswer? = nil
  ) -> (call: Int, answer: ScriptedAnswer) {
    let (begun, watchers) = state.withLock { state in
      state.calls.append(ScriptedCall(operation: operation))
      if let earlier { return ((state.calls.count - 1, earlier), state.metWatchers()) }
      let scripted = state.answers[operation].flatMap(\.first)
      if scripted != nil { state.answers[operation]?.removeFirst() }
      return ((state.calls.count - 1, scripted ?? state.otherwise), state.metWatchers())
    }
    for watcher in watchers { watcher.resume() }
    return begun
  }

  func end(_ call: Int, _ outcome: ScriptedCall.Outcome) {
    let watchers = state.withLock { state in
      state.calls[call].outcome = outcome
      return state.metWatchers()
    }
    for watcher in watchers { watcher.resume() }
  }

  /// Waits for the delay of an answer; forever if it hangs.
  func wait(for answer: ScriptedAnswer) async throws {
    if answer.delay > .zero { try await clock.sleep(for: answer.delay) }
    if case .hangs = answer.outcome {
      let (never, _) = AsyncStream.makeStream(of: Never.self)
      for await _ in never {}
      throw CancellationError()
    }
    try Task.checkCancellation()
  }

  private func perform<Answer: Sendable>(
    _ operation: DataSourceOperation, truncate: (Answer, Int) -> Answer = { answer, _ in answer },
    _ body: (AnyDataSource<Object>) async throws -> Answer
  ) async throws(PersistenceError) -> Answer {
    let (call, answer) = begin(operation)
    do {
      try await wait(for: answer)
      let result: Answer
      switch answer.outcome {
      case .genuine: result = try await body(wrapped)
      case .truncated(let count): result = truncate(try await body(wrapped), count)
      case .failure(let error), .partial(_, let error): throw error
      case .lost(let error):
        _ = try await body(wrapped)
        throw error
      case .hangs: throw CancellationError()
      }
      end(call, .answered)
      return result
    } catch {
      let error = PersistenceError(scripted: error)
      end(call, .failed(error.code))
      throw error
    }
  }
}

extension PersistenceError {
  /// Converts any error to that of a scripted data source.
  init(scripted error: any Error) {
    if error is CancellationError {
      self.init(.cancelled, "the task that called the scripted data source was cancelled")
    } else {
      self = (error as? PersistenceError) ?? PersistenceError(.engineFailure, "\(error)")
    }
  }
}
