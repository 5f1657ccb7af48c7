import Dispatch
import PersistenceDriverSupport
import Synchronization

/// The transactions of a context that are about to commit, of which one thread may commit several as one.
///
/// Each commit costs the server and the client the same, whatever it contains, and ten times as much as one more write. So a
/// few threads commit at once, and the others wait until one of them is done. Then the first of those commits for all of
/// them: transactions that have read nothing, and have sent nothing. If that fails, each commits alone.
final class PostgresCommitGroups: Sendable {
  /// How a thread has to commit.
  enum Turn {
    /// Alone.
    case alone
    /// As one with the others, if there are any; a call of ``leave(afterFailure:)`` follows.
    case first([Member])
    /// Another thread has committed.
    case committed
    /// Another thread could not find out whether it has committed.
    case failed(any Error)
  }

  /// A transaction whose thread waits for its turn.
  ///
  /// Its own thread uses it, or while that waits, the one that commits it, which then signals.
  final class Member: @unchecked Sendable {  // one thread at a time, as described above
    /// What it writes.
    let commands: [PostgresCommand]
    fileprivate let byteCount: Int
    /// The version of the catalog that these need.
    fileprivate let version: Int64
    let registration: CommitRegistration
    fileprivate let semaphore = DispatchSemaphore(value: 0)
    fileprivate var turn = Turn.alone

    init(_ writes: PostgresWaitingWrites, at version: Int64, _ registration: CommitRegistration) {
      (commands, byteCount) = (writes.commands, writes.byteCount)
      (self.version, self.registration) = (version, registration)
    }
  }

  fileprivate struct State {
    /// How many threads have a turn as the first.
    var first = 0
    var waiting: [Member] = []
    /// Until when each commits alone; nil if they may wait for each other.
    var pauseEnd: ContinuousClock.Instant?
  }

  private let state = Lock(State())

  /// How many threads commit at once before others wait for them.
  static let limit = 4
  /// How many transactions are committed as one at most, and how many bytes they write beside those of the first.
  private static let (mostMembers, mostBytes) = (32, 1 << 15)
  /// How long nobody waits after a group that was rolled back, and after a transaction that has waited in vain.
  private static let (pauseAfterFailure, pauseAfterWait) = (Duration.milliseconds(100), Duration.seconds(1))

  /// How many milliseconds a transaction waits for a turn, since those who have one may wait for locks.
  let patience = Atomic<Int>(100)

  /// The number of transactions that wait for a turn.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// A turn for a transaction that needs not wait; nil for one that has to.
  func turnAtOnce() -> Turn? { state.withLock { $0.turnAtOnce() } }

  /// Takes a turn, and waits for it while too many others commit.
  func enter(_ make: () -> Member) -> Turn {
    if let turn = turnAtOnce() { return turn }
    let member = make()
    let turn = state.withLock { state in
      let turn = state.turnAtOnce()
      if turn == nil { state.waiting.append(member) }
      return turn
    }
    if let turn { return turn }
    let limit = DispatchTime.now() + .milliseconds(patience.load(ordering: .relaxed))
    if member.semaphore.wait(timeout: limit) == .success { return member.turn }
    let wasWaiting = state.withLock { state in
      // The turn may have come after the time-out.
      guard let place = state.waiting.firstIndex(where: { $0 === member }) else { return false }
      state.waiting.remove(at: place)
      state.pauseEnd = ContinuousClock.now + Self.pauseAfterWait
      return true
    }
    if wasWaiting { return .alone }
    member.semaphore.wait()
    return member.turn
  }

  /// Ends a turn as the first, and passes it on to those who wait.
  func leave(afterFailure hasFailed: Bool = false) {
    let next = state.withLock { state -> Member? in
      if hasFailed { state.pauseEnd = ContinuousClock.now + Self.pauseAfterFailure }
      guard let next = state.waiting.first else {
        state.first -= 1
        return nil
      }
      var (count, bytes) = (1, 0)
      let mayShare = !state.isPausing()
      while mayShare, count < min(state.waiting.count, Self.mostMembers) {
        let other = state.waiting[count]
        // Each write has the frames of its messages, too.
        bytes += other.byteCount + 256 * other.commands.count
        guard other.version == next.version, bytes <= Self.mostBytes else { break }
        count += 1
      }
      next.turn = .first(Array(state.waiting[1..<count]))
      state.waiting.removeFirst(count)
      return next
    }
    next?.semaphore.signal()
  }

  /// Lets the threads of transactions go on.
  func end(_ members: [Member], _ turn: Turn) {
    for member in members {
      member.turn = turn
      member.semaphore.signal()
    }
  }
}

extension PostgresCommitGroups.State {
  /// The turn of a transaction that needs not wait; nil for one that has to.
  fileprivate mutating func turnAtOnce() -> PostgresCommitGroups.Turn? {
    if isPausing() { return .alone }
    guard first < PostgresCommitGroups.limit else { return nil }
    first += 1
    return .first([])
  }

  /// Whether each commits alone for now.
  fileprivate mutating func isPausing() -> Bool {
    guard let end = pauseEnd else { return false }
    if ContinuousClock.now < end { return true }
    pauseEnd = nil
    return false
  }
}
