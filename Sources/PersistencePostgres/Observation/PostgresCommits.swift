import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

/// Detects commits by all processes.
///
/// Each transaction that writes adds its number to the table `persistence_commits`. A commit is new if its number is
/// visible in the newest moment, and was not in the last one that was checked. So none is missed and none is told twice,
/// in whatever order transactions begin and commit, and after a reconnection too.
final class PostgresCommits: NumberedCommits {
  /// How long the table keeps a number at least.
  private static let kept = Duration.seconds(600)

  /// The number that says that numbers were removed; no transaction has it.
  private static let removal = "'1'::pg_catalog.xid8"

  private struct State: @unchecked Sendable {  // the connection is used under the lock only
    var connection: PostgresConnection?
    /// The moment of the last check; nil before the first.
    var moment: String?
    /// The run of the server that gave the moment; nil if it is unknown.
    var serverRun: String?
    /// Whether a connection was opened since the last check to what may be another run of the server.
    var hasNewServer = false
    /// The standby that gave the moment; nil for a primary server.
    var standby: Int64?
    /// How many numbers at or above the least open one the standby showed, and the least number of all.
    var standbyCount: Int64?
    var standbyLeast: String?

    /// The commits in the answer to a check, which is the last one from then on.
    ///
    /// A connection to a pooler outlives the run of the server, and another one its promotion, so each answer tells both.
    mutating func take(_ result: PostgresResult) -> NewCommits {
      let (run, standby) = (PostgresServerRun.text(result, from: 3), result.integer(0, 5))
      let isSame = !hasNewServer && run == serverRun && standby == self.standby
      let least = result.text(0, 8)
      // Without a later transaction, none has removed what the last check did not see; one that removes what it saw takes
      // the least number first.
      let isUntouched = standby != nil && result.integer(0, 9) == 1 && least != nil && least == standbyLeast
      let isWhole =
        moment == nil
        || (isSame && (isUntouched || result.integer(0, 2) == 1) && result.integer(0, 6) == standbyCount)
      (moment, serverRun, hasNewServer) = (result.text(0, 0), run, false)
      (self.standby, standbyCount, standbyLeast) = (standby, result.integer(0, 7), least)
      let found = (result.text(0, 1) ?? "").split(separator: ",").compactMap { UInt64($0) }
      return NewCommits(numbers: isWhole ? found : [], isWhole: isWhole)
    }
  }

  private let store: PostgresStore
  private let table: String
  /// The statements of all checks but the first, with the run of the server and without.
  private let (textWithRun, textWithoutRun): (String, String)
  private let state = Lock(State())

  init(_ store: PostgresStore) {
    self.store = store
    table = store.own("commits")
    textWithRun = Self.text(on: table, isFirst: false, knowsRun: true)
    textWithoutRun = Self.text(on: table, isFirst: false, knowsRun: false)
  }

  func newCommits() throws -> NewCommits {
    try state.withLock { state in
      for isLast in [false, true] {
        do {
          let connection = try connection(&state)
          let results = try connection.run([check(since: state.moment, connection)], "look for commits")
          guard let result = results.first, result.count == 1 else { break }
          return state.take(result)
        } catch let error as PersistenceError where error.isLostConnection && !isLast {
          state.connection = nil
        }
      }
      throw PersistenceError(
        .engineFailure, "PostgreSQL did not answer a statement", location: store.location)
    }
  }

  func newCommits(seenBy snapshot: any StorageSnapshot) throws -> NewCommits? {
    guard let snapshot = snapshot as? PostgresSnapshot else { return nil }
    return try state.withLock { state in
      try snapshot.withSession { session in
        // The server keeps the plan that it makes now, when the table may have one page, until the table has grown by far.
        let commands = [Self.withoutScans, check(since: state.moment, session.connection), Self.withScans]
        let results = try session.run(commands, "look for commits")
        guard results.count == commands.count else { return nil }
        let result = results[1]
        // Moments of different servers or runs cannot be compared. The answer of a standby tells which one it is. Another
        // one tells the run, unless a user may not read it; the connection may be older than the statistics of the run.
        let knowsRun = session.connection.serverRun != nil && state.connection?.serverRun != nil
        guard knowsRun || result.integer(0, 5) != nil else { return nil }
        return state.take(result)
      }
    }
  }

  /// The statement that reads the newest moment, the numbers since another one, whether none of them is missing, the run of
  /// the server and, on a standby, which one it is and how many numbers it shows.
  ///
  /// A standby writes a moment without the transactions that are open, but with the least of them. So it counts the numbers
  /// from that one on: each commit adds one, and a removal of any also removes all that are less.
  func check(since moment: String?, _ connection: PostgresConnection) -> PostgresCommand {
    var parameters = PostgresParameters()
    parameters.add(text: moment ?? "1:1:")
    // Not every user may read the run.
    let knowsRun = connection.serverRun != nil
    guard moment != nil else {
      return PostgresCommand(Self.text(on: table, isFirst: true, knowsRun: knowsRun), parameters)
    }
    return PostgresCommand(
      knowsRun ? textWithRun : textWithoutRun, prepared: knowsRun ? -20 : -19, parameters)
  }

  private static func text(on commits: String, isFirst: Bool, knowsRun: Bool) -> String {
    let now = "pg_catalog.pg_current_snapshot()"
    // The server plans for the value of a parameter, but not for that of a subquery. So all moments share one plan. With
    // 600,000 numbers, a check takes 0.57 ms with a plan of its own, and 0.08 ms with a shared one (`pgbench -M prepared`).
    let since = "(SELECT $1::text::pg_catalog.pg_snapshot)"
    func numbers(from moment: String) -> String {
      "FROM \(commits) WHERE xid >= pg_catalog.pg_snapshot_xmin(\(moment)) "
        + "AND xid < pg_catalog.pg_snapshot_xmax(\(now)) "
    }
    func count(from moment: String) -> String {
      "CASE WHEN pg_catalog.pg_is_in_recovery() THEN (SELECT pg_catalog.count(*) \(numbers(from: moment))) END"
    }
    // The first condition is for the index. A restored backup may hold numbers that this server has not given yet.
    let found =
      "(SELECT pg_catalog.string_agg(xid::text, ',') \(numbers(from: since))"
      + "AND NOT pg_catalog.pg_visible_in_snapshot(xid, \(since)))"
    let least =
      "(SELECT xid FROM \(commits) WHERE xid > \(Self.removal) "
      + "AND pg_catalog.pg_visible_in_snapshot(xid, \(since)) ORDER BY xid LIMIT 1)"
    // A removal takes all numbers below the one that it keeps. So while a number from before the last check is there, all
    // greater ones are. A lower one that is not there may belong to a transaction that was open at the last check.
    let isWhole =
      "NOT EXISTS (SELECT 1 FROM \(commits) WHERE xid = \(Self.removal)) "
      + "OR (least IS NOT NULL AND CASE WHEN pg_catalog.pg_is_in_recovery() "
      + "THEN least < pg_catalog.pg_snapshot_xmin(\(since)) "
      + "ELSE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_snapshot_xip(\(since)) AS xip "
      + "WHERE xip < least AND pg_catalog.pg_visible_in_snapshot(xip, \(now)) "
      + "AND NOT EXISTS (SELECT 1 FROM \(commits) WHERE xid = xip)) END)"
    let (news, known) = isFirst ? ("NULL::text", "NULL::int8") : (found, count(from: since))
    let run = knowsRun ? PostgresServerRun.columns : "NULL, NULL"
    return
      "SELECT \(now)::text, found, \(isWhole), \(run), \(PostgresServerRun.standby), \(known), \(count(from: now)), "
      + "least::text, pg_catalog.pg_snapshot_xmax(\(now)) = pg_catalog.pg_snapshot_xmax(\(since)), $1::text "
      + "FROM (SELECT \(news) AS found, \(least) AS least OFFSET 0) AS news"
  }

  /// Statements around a check in a transaction that also reads records.
  private static let (withoutScans, withScans) = (
    PostgresCommand("SET LOCAL enable_seqscan = off", prepared: -21),
    PostgresCommand("SET LOCAL enable_seqscan TO DEFAULT", prepared: -22)
  )

  /// Opens a connection for checks, whose plans use the index however small the table is when they are made.
  static func connect(_ store: PostgresStore) throws -> PostgresConnection {
    try PostgresConnection.open(store, setting: ["enable_seqscan = off"])
  }

  /// The connection for checks, opened again if it is broken.
  private func connection(_ state: inout State) throws -> PostgresConnection {
    if let known = state.connection, known.isAlive() { return known }
    let opened = try Self.connect(store)
    // A server that has lost commits gives their numbers once more.
    if opened.serverRun == nil || opened.serverRun != state.serverRun { state.hasNewServer = true }
    (state.connection, state.serverRun) = (opened, opened.serverRun)
    return opened
  }

  /// The most numbers that one statement removes: more than are given between two, and few enough for any time-out.
  static let mostRemoved = 50_000

  /// The statement that removes old numbers.
  ///
  /// Transactions commit in another order than that of their numbers. So it takes all numbers below one that it keeps,
  /// and none of them is younger than the others: a check relies on both.
  static func purge(
    _ store: PostgresStore, keeping kept: Duration = kept, atMost most: Int = mostRemoved
  ) -> PostgresCommand {
    let commits = store.own("commits")
    let isYoung = "at >= pg_catalog.clock_timestamp() - interval '\(kept.components.seconds) seconds'"
    let end = "pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())"
    return PostgresCommand(
      "WITH young AS (SELECT xid FROM \(commits) WHERE xid > \(removal) AND \(isYoung) ORDER BY xid LIMIT 1), "
        + "old AS (SELECT xid FROM \(commits) WHERE xid > \(removal) AND xid < \(end) "
        + "AND xid < coalesce((SELECT xid FROM young), \(end)) ORDER BY xid DESC LIMIT 1), "
        + "many AS (SELECT xid FROM \(commits) WHERE xid > \(removal) AND EXISTS (SELECT 1 FROM old) "
        + "ORDER BY xid OFFSET \(most) LIMIT 1), "
        + "kept AS (SELECT xid FROM (SELECT xid FROM old UNION ALL SELECT xid FROM many) AS ends "
        + "ORDER BY xid LIMIT 1), "
        + "removed AS (DELETE FROM \(commits) WHERE xid > \(removal) AND xid < (SELECT xid FROM kept) RETURNING xid) "
        + "INSERT INTO \(commits) (xid) SELECT \(removal) WHERE EXISTS (SELECT 1 FROM removed) "
        + "ON CONFLICT (xid) DO NOTHING")
  }

  /// The statement that records and returns the number of the running transaction (``PostgresCommitLogs``).
  static func log(_ store: PostgresStore, withMoment: Bool = false, mayBeRefused: Bool = false)
    -> PostgresCommand
  {
    store.commitLogs.command(withMoment: withMoment, mayBeRefused: mayBeRefused)
  }

  func reset() { state.withLock { $0 = State() } }
}

/// The statements that record and return the number of the running transaction, made once for a store.
///
/// If wanted, they return the moment that the transaction reads, too. A restored backup may hold the number already. They
/// tolerate it, which takes the server as long as the insertion does, unless the transaction runs again after a refusal.
struct PostgresCommitLogs: Sendable {
  private let plain, refusable, withMoment, refusableWithMoment: PostgresCommand

  /// Makes the statements for the table of the numbers.
  init(in table: String) {
    let insertion = "INSERT INTO \(table) DEFAULT VALUES "
    let tolerance = "ON CONFLICT (xid) DO UPDATE SET at = pg_catalog.clock_timestamp() "
    let (number, moment) = ("RETURNING xid", ", pg_catalog.pg_current_snapshot()")
    plain = PostgresCommand(insertion + tolerance + number, prepared: -4)
    refusable = PostgresCommand(insertion + number, prepared: -17)
    withMoment = PostgresCommand(insertion + tolerance + number + moment, prepared: -16)
    refusableWithMoment = PostgresCommand(insertion + number + moment, prepared: -18)
  }

  func command(withMoment hasMoment: Bool, mayBeRefused: Bool) -> PostgresCommand {
    switch (hasMoment, mayBeRefused) {
    case (false, false): plain
    case (false, true): refusable
    case (true, false): withMoment
    case (true, true): refusableWithMoment
    }
  }
}

/// State that all contexts of this process share for one store: the writers' gate and the observers.
final class PostgresSharedStore: Sendable {
  /// Each writer has a connection of its own, of which a server accepts 100 by default.
  let gate = WriterGate(sharerLimit: 32)
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
