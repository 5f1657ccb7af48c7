import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

/// Detects commits by other processes.
///
/// Each transaction that writes adds its number to the table `persistence_commits`. A commit is new if its number is
/// visible in the newest moment, and was not in the last one that was checked. So none is missed and none is told twice,
/// in whatever order transactions commit, and after a reconnection too.
final class PostgresCommits: OutsideCommits {
  /// How long the table keeps a number; after a longer pause, any number of commits may be unknown.
  static let kept = "10 minutes"
  private static let longestPause = Duration.seconds(300)

  private struct State: @unchecked Sendable {  // the connection is used under the lock only
    var connection: PostgresConnection?
    /// The moment of the last check; nil before the first.
    var moment: String?
    var checkedAt = ContinuousClock.now
    /// The numbers of this process's commits that no check has found yet.
    var own: Set<String> = []
  }

  private let store: PostgresStore
  private let state = Lock(State())

  init(_ store: PostgresStore) { self.store = store }

  func check() throws -> Bool {
    try state.withLock { state in
      let now = ContinuousClock.now
      let isLate = now - state.checkedAt > Self.longestPause
      let moment = isLate ? nil : state.moment
      let result = try read(&state, since: moment)
      state.moment = result.text(0, 0)
      state.checkedAt = now
      guard moment != nil else {
        state.own.removeAll()
        return isLate
      }
      let found = Set((result.text(0, 1) ?? "").split(separator: ",").map(String.init))
      defer { state.own.subtract(found) }
      return !found.isSubset(of: state.own)
    }
  }

  private func read(_ state: inout State, since moment: String?) throws -> PostgresResult {
    var parameters = PostgresParameters()
    parameters.add(text: moment ?? "1:1:")
    // The first condition is for the index. A restored backup may hold numbers that this server has not given yet.
    let found =
      moment == nil
      ? "NULL::text"
      : "(SELECT pg_catalog.string_agg(xid::text, ',') FROM \(store.own("commits")) "
        + "WHERE xid >= pg_catalog.pg_snapshot_xmin($1::text::pg_catalog.pg_snapshot) "
        + "AND xid < pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot()) "
        + "AND NOT pg_catalog.pg_visible_in_snapshot(xid, $1::text::pg_catalog.pg_snapshot))"
    let text = "SELECT pg_catalog.pg_current_snapshot()::text, \(found), $1::text"
    for isLast in [false, true] {
      do {
        let connection =
          try state.connection.flatMap { $0.isAlive() ? $0 : nil } ?? PostgresConnection.open(store)
        state.connection = connection
        let results = try connection.run([PostgresCommand(text, parameters)], "look for commits")
        guard let result = results.first, result.count == 1 else { break }
        return result
      } catch let error as PersistenceError where error.isLostConnection && !isLast {
        state.connection = nil
      }
    }
    throw PersistenceError(.engineFailure, "PostgreSQL did not answer a statement", location: store.location)
  }

  func reset() { state.withLock { $0 = State() } }

  /// Commits for this process; the closure returns the transaction's number, or nil if it has none.
  ///
  /// No check runs meanwhile, since the observers' lock is held.
  func committing(_ commit: () throws -> String?) throws {
    let number = try commit()
    guard let number else { return }
    state.withLock { if $0.moment != nil { $0.own.insert(number) } }
  }
}

/// State that all contexts of this process share for one store: the writers' gate and the observers.
final class PostgresSharedStore: Sendable {
  let gate = WriterGate()
  let commits: PostgresCommits
  let observers: CommitObservers

  private struct Weak: Sendable {
    weak let store: PostgresSharedStore?
  }

  private static let stores = Mutex<[String: Weak]>([:])

  private init(_ store: PostgresStore) {
    commits = PostgresCommits(store)
    observers = CommitObservers(outside: commits)
  }

  /// The state of the store with an identity, which all open contexts share.
  static func of(_ identity: String, _ store: PostgresStore) -> PostgresSharedStore {
    stores.withLock { stores in
      if let known = stores[identity]?.store { return known }
      stores = stores.filter { $0.value.store != nil }
      let made = PostgresSharedStore(store)
      stores[identity] = Weak(store: made)
      return made
    }
  }
}
