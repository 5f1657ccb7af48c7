import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

/// A connection in a transaction, with the catalog of its moment.
///
/// The statements that begin the transaction travel with its first batch. Its answer has the version of the catalog,
/// which shows whether the cached one is the newest (``StaleCatalog``).
final class PostgresSession {
  /// What a transaction does.
  enum Kind {
    /// Reads of one call.
    case reading
    /// Reads of results and snapshots, of which one that fails leaves the moment.
    case pinned
    /// The writes of a closure.
    case writing
  }

  let connection: PostgresConnection
  let store: PostgresStore
  private(set) var kind: Kind
  var catalog: PostgresCatalog { didSet { lastModel = nil } }

  /// The model that was asked for last; nil if the catalog has changed since.
  var lastModel: PostgresModel?

  /// The statements that begin the transaction, as long as they are not sent.
  private var opening: [PostgresCommand]

  /// The moment of a reading transaction, as the server writes it.
  private(set) var moment = ""

  /// Whether the statements that begin the transaction were sent.
  private(set) var wasSent = false

  /// Whether the transaction keeps all tables of its catalog from being removed, and not only those that it reads.
  var locksTables = false

  /// Whether the server has shown that the catalog is the newest one.
  private(set) var isVerified = false

  /// The error after which the server accepts nothing but the end of the transaction.
  private(set) var failure: PersistenceError?

  /// Grows when cursors may have vanished: with a part of the transaction, or before a change of tables.
  private(set) var cursorEpoch = 0
  private var lastCursor = 0
  /// How many batches were sent, or begun to be.
  private(set) var batchCount = 0
  private var unusedCursors: [String] = []
  /// The page that was requested before its reader asked for it.
  var ahead: PostgresPageAhead?

  /// Whether the transaction has changed anything.
  var hasWritten = false

  /// Whether the transaction runs beside others, and may run again.
  private(set) var isReplayable = false
  /// Whether the transaction begins with its first statement that needs an answer, or with its commit.
  ///
  /// It writes without waiting for answers, and runs again step by step if the server refuses something.
  private(set) var isDeferred = false
  /// The version of the catalog when the transaction began.
  let firstVersion: Int64
  /// Why the transaction has to run again, whatever its closure makes of the error.
  var conflict: PostgresConflict?

  /// The writes that travel with the next batch.
  var waiting = PostgresWaitingWrites()
  /// Whether an insertion was refused since ``takeRefusal()``.
  var hasRefusal = false

  init(_ kind: Kind, _ connection: PostgresConnection, _ catalog: PostgresCatalog, opening: [PostgresCommand])
  {
    self.kind = kind
    self.connection = connection
    self.catalog = catalog
    self.opening = opening
    firstVersion = catalog.version
    store = connection.store
  }

  /// A session for a replayable transaction that has not begun.
  static func deferred(
    _ connection: PostgresConnection, _ catalog: PostgresCatalog, opening: [PostgresCommand]
  ) -> PostgresSession {
    let session = PostgresSession(.writing, connection, catalog, opening: opening)
    (session.isReplayable, session.isDeferred) = (true, true)
    return session
  }

  /// A session for the reads of one call.
  static func reading(_ connection: PostgresConnection, _ catalog: PostgresCatalog) -> PostgresSession {
    reading(connection, catalog, locking: [])
  }

  /// A session for reads, with statements that lock tables before its moment begins.
  static func reading(
    _ connection: PostgresConnection, _ catalog: PostgresCatalog, locking: [PostgresCommand]
  ) -> PostgresSession {
    PostgresSession(
      .reading, connection, catalog,
      opening: [.beginReading] + locking + [connection.store.versionQueries.versionAndMoment])
  }

  /// Makes the transaction outlive its call.
  func pin() { kind = .pinned }

  /// Declares the begin of a transaction that writes, which the caller ran itself.
  func begun(_ mode: TransactionMode) {
    opening = []
    (wasSent, isVerified, isReplayable) = (true, true, mode == .replayable)
  }

  /// Runs statements and returns their results.
  ///
  /// An interruption ends those that only read. In a transaction that writes, it ends those that travel with no begin and
  /// no writes, so that the transaction goes on as if they had not begun.
  func run(_ commands: [PostgresCommand], _ action: String, reads: Bool = false) throws -> [PostgresResult] {
    try settleAhead(action)
    try sendCopy()
    try requireHealth()
    // Before anything is sent, so that a late read does not end the moment that others share.
    if reads || kind != .writing { try ReadInterruption.check() }
    let beginning = opening.count
    let insertions = waiting.insertions.map { $0 + beginning }
    var batch = opening
    batch.append(contentsOf: takeQueue())
    let isGuarded =
      kind == .pinned || (kind == .writing && reads && batch.isEmpty && ReadInterruption.isPossible)
    if isGuarded { batch.append(.savepointOfRead) }
    batch.append(contentsOf: closing())
    let ahead = batch.count
    batch.append(contentsOf: commands)
    if isGuarded { batch.append(.releaseOfRead) }
    let results: [PostgresResult]
    wasSent = true
    batchCount += 1
    do {
      results = try connection.run(batch, action, isReading: isGuarded || kind != .writing)
    } catch {
      opening = kind == .writing ? [] : opening
      throw failed(error, beginning: beginning, ahead: ahead, isGuarded: isGuarded)
    }
    if insertions.contains(where: { results[$0].changes == 0 }) { hasRefusal = true }
    if beginning > 0, kind == .writing {
      opening = []
      isVerified = true
    } else if beginning > 0 {
      let state = results[beginning - 1]
      guard state.count == 1, let version = state.integer(0, 0) else {
        throw PersistenceError.damaged("the table persistence_state is empty").at(location: store.location)
      }
      moment = state.text(0, 1) ?? ""
      opening = []
      guard version == catalog.version else { throw StaleCatalog() }
      isVerified = true
    }
    guard ahead > 0 || isGuarded else { return results }
    return Array(results[ahead..<(results.count - (isGuarded ? 1 : 0))])
  }

  /// Runs one statement.
  @discardableResult
  func run(_ command: PostgresCommand, _ action: String, reads: Bool = false) throws -> PostgresResult {
    let results = try run([command], action, reads: reads)
    guard let result = results.first else {
      throw PersistenceError(
        .engineFailure, "PostgreSQL did not answer a statement", location: store.location)
    }
    return result
  }

  /// What follows from a batch that failed.
  ///
  /// - Parameters:
  ///   - error: Why the batch failed.
  ///   - beginning: How many statements of the batch began the transaction.
  ///   - ahead: How many of its statements were not written where it failed, with those.
  ///   - isGuarded: Whether the rest of it can be undone alone.
  /// - Returns: The error for the caller.
  func failed(_ error: any Error, beginning: Int = 0, ahead: Int = 0, isGuarded: Bool = false) -> any Error {
    let known = error as? PersistenceError
    let error: any Error = (kind == .writing ? known?.ofWriting : known?.ofReading) ?? error
    guard !connection.isBroken else {
      guard kind == .writing, let known = error as? PersistenceError else { return error }
      return notingFailure(known, beginning: beginning, ahead: ahead)
    }
    // An interruption that came too late has undone nothing.
    if kind == .pinned || isGuarded, connection.isInTransaction { return error }
    cursorEpoch += 1
    switch kind {
    case .reading: break
    case .writing where !isGuarded || !ReadInterruption.isRequested:
      failure =
        error as? PersistenceError
        ?? PersistenceError(.cancelled, "the transaction was cancelled", location: store.location)
      if let failure { return notingFailure(failure, beginning: beginning, ahead: ahead) }
    case .pinned, .writing:
      do {
        _ = try connection.run(
          [PostgresCommand("ROLLBACK TO read"), PostgresCommand("RELEASE read")], "end a read")
      } catch {
        connection.abandon()
      }
    }
    return error
  }

  /// Forgets the failure, and the refused insertions, of a part that was rolled back.
  ///
  /// A conflict concerns the whole transaction.
  func recovered() {
    hasRefusal = false
    if conflict == nil { failure = nil }
  }

  /// Asks for the version of the catalog, if no statement was sent yet.
  ///
  /// A deferred transaction finds out when it begins, and runs again if the catalog is not the newest.
  func verify() throws {
    if !isVerified, !isDeferred { _ = try run([], "read the version of the catalog") }
  }

  /// Begins a deferred transaction, unless it has begun, and sends what it has written.
  func sendBegin() throws { if !opening.isEmpty { _ = try run([], "begin a transaction") } }

  /// The statements that begin the transaction, for the caller to run, unless it has begun.
  func takeOpening() -> [PostgresCommand] {
    defer { opening = [] }
    if kind == .writing, !opening.isEmpty { wasSent = true }
    return opening
  }

  /// Ends a reading transaction without waiting for the answer.
  func end() {
    guard wasSent, !connection.isBroken else { return }
    abandonAhead()
    guard !connection.isBroken else { return }
    do {
      try connection.post([.rollback], "end a transaction")
    } catch {
      connection.abandon()
    }
  }
}

/// Cursors.
extension PostgresSession {
  /// A name for a new cursor.
  func nextCursor() -> String {
    lastCursor += 1
    return "persistence_\(lastCursor)"
  }

  /// Closes a cursor with the next batch.
  func discard(cursor: String, epoch: Int) {
    if epoch == cursorEpoch { unusedCursors.append(cursor) }
  }

  private func closing() -> [PostgresCommand] {
    guard opening.isEmpty, !unusedCursors.isEmpty else { return [] }
    defer { unusedCursors = [] }
    return unusedCursors.map { PostgresCommand("CLOSE \($0)") }
  }

  /// Invalidates all cursors, as a rollback of a part does.
  func invalidateCursors() {
    cursorEpoch += 1
    unusedCursors = []
  }
}
