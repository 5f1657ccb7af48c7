import Synchronization

/// A request to stop the reads of a thread, such as for a time limit or a client that has gone (contract R5).
///
/// A context calls ``check()`` while it reads many rows. The call throws if a caller has interrupted the read, and
/// costs one load while no thread of the process can be interrupted.
public final class ReadInterruption: Sendable {
  private struct State {
    var error: PersistenceError?
    var handlers: [Int: @Sendable (PersistenceError) -> Void] = [:]
    var lastHandler = 0
  }

  @TaskLocal private static var current: ReadInterruption?
  /// The number of running closures that can be interrupted.
  private static let scopes = Atomic<Int>(0)

  private let isRequested = Atomic<Bool>(false)
  private let state = Mutex(State())
  /// The check at which the interruption requests itself; nil if only a caller requests it.
  private let ownCheck: (number: Int, error: PersistenceError)?
  private let checks = Atomic<Int>(0)

  /// Makes an interruption that was not requested yet.
  public init() { ownCheck = nil }

  /// Makes an interruption that requests itself at a check of its reads: in the middle of a read, on every machine.
  package init(atCheck number: Int, _ error: PersistenceError) { ownCheck = (number, error) }

  /// The number of checks by reads so far; counted only for ``init(atCheck:_:)``.
  package var checkCount: Int { checks.load(ordering: .relaxed) }

  private func noteCheck() {
    guard let ownCheck, checks.add(1, ordering: .relaxed).newValue == ownCheck.number else { return }
    request(ownCheck.error)
  }

  /// Throws if the calling thread must stop reading.
  ///
  /// Call it at least once for every thousand rows that a read examines, better for every hundred, because a condition
  /// can be long. Call it only where an error leaves nothing half done.
  ///
  /// - Throws: The error of ``request(_:)``.
  public static func check() throws {
    guard scopes.load(ordering: .relaxed) != 0, let current else { return }
    current.noteCheck()
    try current.check()
  }

  /// Whether the calling thread must stop reading.
  package static var isRequested: Bool {
    guard scopes.load(ordering: .relaxed) != 0, let current else { return false }
    current.noteCheck()
    return current.isRequested.load(ordering: .relaxed)
  }

  /// Whether any thread of the process can be interrupted.
  package static var isPossible: Bool { scopes.load(ordering: .relaxed) != 0 }

  /// Runs a closure that the interruption ends early: its reads throw once ``request(_:)`` was called.
  ///
  /// A write transaction in the closure fails at an interrupted read as at any other error. In a closure inside another
  /// one, only the inner interruption counts.
  ///
  /// - Parameter body: The reads, all on the calling thread.
  /// - Returns: The result of the closure.
  /// - Throws: The closure's error, or the requested one if the interruption was requested before.
  public func run<Result>(_ body: () throws -> Result) throws -> Result {
    Self.scopes.add(1, ordering: .relaxed)
    defer { Self.scopes.subtract(1, ordering: .relaxed) }
    return try Self.$current.withValue(self) {
      try check()
      return try body()
    }
  }

  /// Ends the reads in running closures, and those that would start; only the first call counts.
  ///
  /// - Parameter error: The error that the reads throw, such as one with the code
  ///   ``PersistenceError/Code/cancelled`` or ``PersistenceError/Code/timedOut``.
  public func request(_ error: PersistenceError) {
    let handlers = state.withLock { state -> [@Sendable (PersistenceError) -> Void] in
      guard state.error == nil else { return [] }
      state.error = error
      isRequested.store(true, ordering: .releasing)
      defer { state.handlers.removeAll() }
      return Array(state.handlers.values)
    }
    for handler in handlers { handler(error) }
  }

  /// Calls a closure when the interruption is requested, now if it was; returns a number for ``forget(_:)``.
  package func whenRequested(_ body: @escaping @Sendable (PersistenceError) -> Void) -> Int {
    let (number, error) = state.withLock { state -> (Int, PersistenceError?) in
      state.lastHandler += 1
      if state.error == nil { state.handlers[state.lastHandler] = body }
      return (state.lastHandler, state.error)
    }
    if let error { body(error) }
    return number
  }

  /// Removes a closure that was passed to ``whenRequested(_:)``.
  package func forget(_ number: Int) { state.withLock { _ = $0.handlers.removeValue(forKey: number) } }

  /// Throws if the interruption was requested.
  package func check() throws {
    guard isRequested.load(ordering: .acquiring), let error = state.withLock(\.error) else { return }
    throw error
  }
}
