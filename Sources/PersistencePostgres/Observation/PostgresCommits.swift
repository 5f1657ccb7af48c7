import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

/// Detects commits by other processes.
///
/// Each transaction that writes adds its number to the table `persistence_commits`. A commit is new if its number is
/// visible in the newest moment, and was not in the last one that was checked. So none is missed and none is told twice,
/// in whatever order transactions commit, and after a reconnection too.
final class PostgresCommits: OutsideCommits {
  /// How long the table keeps a number at least.
  private static let kept = Duration.seconds(600)

  private struct State: @unchecked Sendable {  // the connection is used under the lock only
    var connection: PostgresConnection?
    /// The moment of the last check; nil before the first.
    var moment: String?
    /// The run of the server that gave the moment; nil if it is unknown.
    var serverRun: String?
    /// Whether a connection was opened since the last check to what may be another run of the server.
    var hasNewServer = false
    /// The numbers of this process's commits that no check has found yet.
    var own: Set<String> = []
  }

  private let store: PostgresStore
  private let state = Lock(State())

  init(_ store: PostgresStore) { self.store = store }

  func check() throws -> Bool {
    try state.withLock { state in
      let moment = state.moment
      let result = try read(&state, since: moment)
      defer { state.hasNewServer = false }
      state.moment = result.text(0, 0)
      let found = Set((result.text(0, 1) ?? "").split(separator: ",").map(String.init))
      guard moment != nil, !state.hasNewServer, result.integer(0, 2) == 1 else {
        state.own.removeAll()
        return moment != nil
      }
      defer { state.own.subtract(found) }
      return !found.isSubset(of: state.own)
    }
  }

  private func read(_ state: inout State, since moment: String?) throws -> PostgresResult {
    var parameters = PostgresParameters()
    parameters.add(text: moment ?? "1:1:")
    let commits = store.own("commits")
    let since = "$1::text::pg_catalog.pg_snapshot"
    // The first condition is for the index. A restored backup may hold numbers that this server has not given yet.
    let found =
      moment == nil
      ? "NULL::text"
      : "(SELECT pg_catalog.string_agg(xid::text, ',') FROM \(commits) "
        + "WHERE xid >= pg_catalog.pg_snapshot_xmin(\(since)) "
        + "AND xid < pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot()) "
        + "AND NOT pg_catalog.pg_visible_in_snapshot(xid, \(since)))"
    // While a number from before the last check is there, all later ones are. The newest one always is.
    let isWhole =
      "found IS NULL OR "
      + "EXISTS (SELECT 1 FROM \(commits) WHERE pg_catalog.pg_visible_in_snapshot(xid, \(since)))"
    let text =
      "SELECT pg_catalog.pg_current_snapshot()::text, found, \(isWhole), $1::text "
      + "FROM (SELECT \(found) AS found OFFSET 0) AS news"
    for isLast in [false, true] {
      do {
        let connection = try connection(&state)
        let results = try connection.run([PostgresCommand(text, parameters)], "look for commits")
        guard let result = results.first, result.count == 1 else { break }
        return result
      } catch let error as PersistenceError where error.isLostConnection && !isLast {
        state.connection = nil
      }
    }
    throw PersistenceError(.engineFailure, "PostgreSQL did not answer a statement", location: store.location)
  }

  /// The connection for checks, opened again if it is broken.
  private func connection(_ state: inout State) throws -> PostgresConnection {
    if let known = state.connection, known.isAlive() { return known }
    let opened = try PostgresConnection.open(store)
    // A server that has lost commits gives their numbers once more.
    if opened.serverRun == nil || opened.serverRun != state.serverRun { state.hasNewServer = true }
    (state.connection, state.serverRun) = (opened, opened.serverRun)
    return opened
  }

  /// The statement that removes old numbers.
  ///
  /// The newest of the old numbers stays, so that a number older than a moment stays as long as all later ones do.
  static func purge(_ store: PostgresStore, keeping kept: Duration = kept) -> PostgresCommand {
    let isOld = "at < pg_catalog.clock_timestamp() - interval '\(kept.components.seconds) seconds'"
    return PostgresCommand(
      "DELETE FROM \(store.own("commits")) WHERE \(isOld) AND xid <> (SELECT max(xid) FROM "
        + "\(store.own("commits")) WHERE \(isOld) "
        + "AND xid < pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot()))")
  }

  /// The statement that records and returns the number of the running transaction.
  ///
  /// Writers take turns, so numbers and times have the order of the commits.
  static func log(_ store: PostgresStore) -> PostgresCommand {
    PostgresCommand(
      "INSERT INTO \(store.own("commits")) DEFAULT VALUES "
        + "ON CONFLICT (xid) DO UPDATE SET at = pg_catalog.clock_timestamp() RETURNING xid::text",
      prepared: -4)
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
    // Only writers of this package record their commits.
    observers = CommitObservers(outside: store.isForeign ? nil : commits)
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
