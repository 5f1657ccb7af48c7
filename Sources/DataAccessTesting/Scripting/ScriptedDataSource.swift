public import DataAccess
public import PersistenceCore
import Synchronization

/// A store that does what a test's script says: waits, fails, hangs, breaks off, forgets to answer.
///
/// It stands before another store, which does the work where the script lets it. Every call takes the next answer that
/// was scripted for its kind of operation and, where there is none, the one that was last set for all.
///
/// ```swift
/// let remote = ScriptedDataSource(try RepositoryDataSource.inMemory(movies), clock: clock)
/// remote.script(.failure(PersistenceError(.unreachable, "no route")), .genuine.after(.seconds(1)), for: .execute)
/// ```
public final class ScriptedDataSource<Object: PersistentRecord>: DataSource {
  private struct State {
    var answers: [DataSourceOperation: [ScriptedAnswer]] = [:]
    var otherwise = ScriptedAnswer.genuine
    var calls: [ScriptedCall] = []
    var watchers:
      [(isMet: @Sendable ([ScriptedCall]) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
        []

    /// Takes out those whose condition is met.
    mutating func metWatchers() -> [CheckedContinuation<Void, Never>] {
      let met = watchers.filter { $0.isMet(calls) }.map(\.continuation)
      watchers.removeAll { $0.isMet(calls) }
      return met
    }
  }

  let wrapped: AnyDataSource<Object>
  private let clock: any Clock<Duration>
  private let state = Mutex(State())

  /// Puts a script before a store.
  ///
  /// - Parameters:
  ///   - wrapped: What does the work.
  ///   - clock: What delays are measured on.
  public init(_ wrapped: any DataSource<Object>, clock: any Clock<Duration> = ContinuousClock()) {
    self.wrapped = AnyDataSource(wrapped)
    self.clock = clock
  }

  /// Makes a scripted store over one in memory.
  ///
  /// - Parameters:
  ///   - objects: What it holds at first.
  ///   - clock: What delays are measured on.
  /// - Throws: ``PersistenceError`` where two objects have one key.
  public convenience init(_ objects: [Object] = [], clock: any Clock<Duration> = ContinuousClock()) throws {
    self.init(try RepositoryDataSource.inMemory(objects), clock: clock)
  }

  /// Whether the store behind the script answers in the order of the contract.
  public var hasContractOrder: Bool { wrapped.hasContractOrder }

  // MARK: The script

  /// Adds answers to the next calls of one kind of operation, one for each call.
  ///
  /// - Parameters:
  ///   - answers: The answers, in their order.
  ///   - operations: The kinds of operations, each of which gets all of these answers.
  public func script(_ answers: ScriptedAnswer..., for operations: DataSourceOperation...) {
    state.withLock { state in
      for operation in operations { state.answers[operation, default: []] += answers }
    }
  }

  /// Sets the answer to every call for which none was scripted.
  ///
  /// - Parameter answer: The answer; ``ScriptedAnswer/genuine`` at first.
  public func answerOtherwise(_ answer: ScriptedAnswer) { state.withLock { $0.otherwise = answer } }

  /// The calls so far, in the order in which they came.
  public var calls: [ScriptedCall] { state.withLock(\.calls) }

  /// Waits until the calls meet a condition.
  ///
  /// - Parameter condition: Is asked whenever a call comes or ends.
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

  // MARK: The store

  /// Adds an object, if the script lets it.
  @discardableResult
  public func insert(_ object: Object) async throws(PersistenceError) -> Object {
    try await perform(.insert) { try await $0.insert(object) }
  }

  /// Replaces the object of the same key, if the script lets it.
  @discardableResult
  public func update(_ object: Object) async throws(PersistenceError) -> Object {
    try await perform(.update) { try await $0.update(object) }
  }

  /// Replaces the object of the same key if it is as expected, and the script lets it.
  @discardableResult
  public func update(_ object: Object, replacing expected: Object) async throws(PersistenceError) -> Object {
    try await perform(.update) { try await $0.update(object, replacing: expected) }
  }

  /// Adds or replaces an object, if the script lets it.
  @discardableResult
  public func save(_ object: Object) async throws(PersistenceError) -> Object {
    try await perform(.save) { try await $0.save(object) }
  }

  /// Deletes the object of the same key, if the script lets it.
  @discardableResult
  public func delete(_ object: Object) async throws(PersistenceError) -> Object? {
    try await perform(.delete) { try await $0.delete(object) }
  }

  /// Makes several changes, if the script lets it.
  @discardableResult
  public func apply(_ batch: ChangeBatch<Object>) async throws(PersistenceError) -> Bool {
    try await perform(.apply) { try await $0.apply(batch) }
  }

  /// The object of a key, or what the script says.
  public func find(_ key: Object.PrimaryKey) async throws(PersistenceError) -> Object? {
    try await perform(.find) { try await $0.find(key) }
  }

  /// The objects of a query, or what the script says.
  public func execute(_ query: FetchOptions<Object>) async throws(PersistenceError) -> [Object] {
    try await perform(.execute) {
      try await $0.execute(query)
    } truncate: {
      Array($0.prefix($1))
    }
  }

  /// How many objects a query has, or what the script says.
  public func count(_ query: FetchOptions<Object>) async throws(PersistenceError) -> Int {
    try await perform(.count) {
      try await $0.count(query)
    } truncate: {
      min($0, $1)
    }
  }

  /// The objects of a query, a page at a time, as the script lets them through.
  public func pages(_ query: FetchOptions<Object>, size: Int) -> DataSourcePages<Object, PersistenceError> {
    DataSourcePages { ScriptedPager(self, query, size: max(1, size)).next }
  }

  // MARK: Answering

  /// Takes the next answer to a kind of operation, unless an earlier one goes on, and writes the call down.
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

  /// Waits as long as an answer takes, for ever where it hangs.
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
    _ operation: DataSourceOperation, _ body: (AnyDataSource<Object>) async throws -> Answer,
    truncate: (Answer, Int) -> Answer = { answer, _ in answer }
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
  /// Any error as the one that a scripted store throws.
  init(scripted error: any Error) {
    if error is CancellationError {
      self.init(.cancelled, "the task that asked the scripted store was cancelled")
    } else {
      self = (error as? PersistenceError) ?? PersistenceError(.engineFailure, "\(error)")
    }
  }
}
