import CPostgres
import Foundation
import PersistenceDriver
import PersistenceDriverSupport

/// A connection to the server, always in libpq's pipeline mode: a batch of statements takes one round trip.
///
/// One thread uses it at a time: the one that took it from the pool, or that holds the lock of a pin.
final class PostgresConnection: @unchecked Sendable {  // one thread at a time, as described above
  let store: PostgresStore
  let handle: OpaquePointer

  /// Whether the connection broke, or its state is unknown; it does not return to the pool.
  var isBroken = false

  /// How many batches were sent whose answers nobody has read.
  private(set) var unread = 0

  /// How often libpq said that nothing is left to read, although a batch has not ended.
  var emptyAnswers = 0

  /// What the server said of the last statement that it refused.
  private(set) var rejection: PostgresRejection?

  /// The place of that statement in its batch.
  private(set) var refusedPlace = 0

  /// When the server last answered a batch.
  private(set) var lastAnswer = ContinuousClock.now

  /// The names of the statements that the server has prepared, by their numbers.
  private var prepared: [Int: String] = [:]
  private static let preparedLimit = 400
  /// How long a cancelled statement may go on before the connection is given up.
  private static let cancellingTime = Duration.seconds(10)

  /// Takes over a connection that was made.
  init(_ handle: OpaquePointer, of store: PostgresStore) {
    self.handle = handle
    self.store = store
  }

  /// The run of the server that the connection belongs to; nil if it is unknown.
  var serverRun: String?

  /// What the connection's standby is known to have replayed.
  var replayed: PostgresPosition?

  deinit {
    readLastAnswers()
    PQfinish(handle)
  }

  /// Whether the connection is in a transaction that has not failed, after all answers were read.
  var isInTransaction: Bool { PQtransactionStatus(handle) == PQTRANS_INTRANS }

  /// Whether the connection is in no transaction, after all answers were read.
  private var isIdle: Bool { PQtransactionStatus(handle) == PQTRANS_IDLE }

  /// Whether the server is no standby, as it said with its last answer.
  var isOfPrimary: Bool { parameter("in_hot_standby") == "off" }

  /// A setting of which the server reports every change; nil if this one does not.
  func parameter(_ name: String) -> String? { PQparameterStatus(handle, name).map { String(cString: $0) } }

  /// The server's process of the connection.
  var process: Int32 { PQbackendPID(handle) }

  /// Whether the server has answered recently, so that it is most probably still there.
  var isFresh: Bool { ContinuousClock.now - lastAnswer < .seconds(5) }

  /// Whether an idle connection is still usable, as far as this side knows.
  func isAlive() -> Bool {
    guard !isBroken else { return false }
    var file = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
    // An idle server says nothing but why it closes the connection, and then closes it.
    var messages = 0
    while !isBroken, messages < 16, poll(&file, 1, 0) > 0 {
      if PQconsumeInput(handle) == 0 { isBroken = true }
      messages += 1
    }
    return !isBroken && PQstatus(handle) == CONNECTION_OK
  }

  /// Whether something can be read although nothing was asked.
  var hasUnaskedAnswer: Bool {
    var file = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
    return unread == 0 && poll(&file, 1, 0) > 0
  }

  /// Marks the connection as unusable.
  func abandon() { isBroken = true }
}

/// Batches.
extension PostgresConnection {
  /// Sends statements and reads their results.
  ///
  /// After the first one that fails, the server skips the others.
  ///
  /// - Parameters:
  ///   - commands: The statements.
  ///   - action: What they do, for messages.
  ///   - isReading: Whether the calling thread's interruption cancels them.
  ///   - limit: How long to wait at most, beside the statement time-out.
  /// - Returns: The results of the statements.
  /// - Throws: ``PersistenceError`` of the first statement that failed.
  func run(
    _ commands: [PostgresCommand], _ action: String, isReading: Bool = false, within limit: Duration? = nil
  ) throws -> [PostgresResult] {
    let timeout = store.configuration.statementTimeout
    let time = limit.map { limit in timeout.map { min($0, limit) } ?? limit } ?? timeout
    let deadline = time.map { ContinuousClock.now + $0 }
    // Earlier answers tell whether the transaction is healthy, in which statements can be deallocated.
    while prepared.count > Self.preparedLimit, unread > 0 {
      try skipBatch(Wait(deadline: deadline, isReading: false, action: action))
    }
    let places = try send(commands, action, deadline)
    return try receive(places, action, deadline, isReading: isReading)
  }

  /// Reads the results of the batch that was sent last.
  func receive(
    _ places: [Place], _ action: String, _ deadline: ContinuousClock.Instant?, isReading: Bool
  ) throws -> [PostgresResult] {
    guard !isBroken else { throw PostgresErrorMapping.lost(handle, action, store.location) }
    while unread > 1 { try skipBatch(Wait(deadline: deadline, isReading: false, action: action)) }
    // A wait that nothing can interrupt needs no timer, which takes longer to set than most answers.
    let wait = Wait(
      deadline: deadline, isReading: isReading && ReadInterruption.isPossible, action: action)
    return try readBatch(places, wait)
  }

  /// Sends statements outside any transaction, and reads their results; nil if the server refuses one, which undoes all.
  func attempt(_ commands: [PostgresCommand], _ action: String) throws -> [PostgresResult]? {
    do {
      return try run(commands, action)
    } catch {
      guard isBroken else { return nil }
      throw error
    }
  }

  /// Sends statements, none of them to be prepared, whose results the next user of the connection reads and discards.
  func post(_ commands: [PostgresCommand], _ action: String) throws {
    _ = try send(commands, action, ContinuousClock.now + .seconds(5))
  }

  /// How long and how to wait for the server.
  struct Wait {
    var deadline: ContinuousClock.Instant?
    /// Whether the calling thread's interruption cancels the statement.
    var isReading: Bool
    /// Whether the end of the time cancels the statement.
    var cancels = true
    /// Whether the server was told to cancel, and is told again: a request that comes between two statements is lost.
    var isCancelling = false
    let action: String
  }

  /// What a result answers: the preparation of a statement, the removal of all prepared ones, or a statement.
  enum Place: Equatable {
    case preparation(of: Int)
    case deallocation
    case statement
  }

  /// Sends statements as a batch; the server sends the answers to the first `count` before it executes the others.
  func send(
    _ commands: [PostgresCommand], _ action: String, _ deadline: ContinuousClock.Instant?,
    flushingAfter count: Int? = nil
  ) throws -> [Place] {
    guard !isBroken else { throw PostgresErrorMapping.lost(handle, action, store.location) }
    var places: [Place] = []
    places.reserveCapacity(commands.count)
    var fresh: [Int: String] = [:]
    // A pooler may run the next transaction on another connection of the server.
    let prepares = store.configuration.pooler != .transaction
    // After a failed statement, the server would refuse it, and skip what follows.
    if prepared.count > Self.preparedLimit, unread == 0, isIdle || isInTransaction {
      try check(PQsendQueryParams(handle, "DEALLOCATE ALL", 0, nil, nil, nil, nil, 1), action)
      places.append(.deallocation)
      prepared.removeAll()
    }
    for index in commands.indices {
      if index == count { try check(PQsendFlushRequest(handle), action) }
      var name: String?
      if prepares, let number = commands[index].prepared {
        name = prepared[number] ?? fresh[number]
        if name == nil {
          let new = Self.name(number)
          try check(prepare(commands[index], as: new), action)
          places.append(.preparation(of: number))
          (fresh[number], name) = (new, new)
        }
      }
      try check(send(commands[index], preparedAs: name), action)
      places.append(.statement)
    }
    try check(PQpipelineSync(handle), action)
    unread += 1
    try flush(Wait(deadline: deadline, isReading: false, action: action))
    return places
  }

  private func check(_ code: Int32, _ action: String) throws {
    guard code != 0 else { throw broken(action) }
  }

  func broken(_ action: String) -> PersistenceError {
    isBroken = true
    return PostgresErrorMapping.lost(handle, action, store.location)
  }

  /// Writes what libpq has buffered, and reads meanwhile, so that neither side waits for the other for ever.
  func flush(_ wait: Wait) throws {
    while true {
      let rest = PQflush(handle)
      guard rest != 0 else { return }
      guard rest > 0 else { throw broken(wait.action) }
      let ready = try waitForSocket(Int16(POLLIN | POLLOUT), wait)
      if ready & Int16(POLLIN | POLLHUP | POLLERR) != 0, PQconsumeInput(handle) == 0 {
        throw broken(wait.action)
      }
    }
  }

  /// Reads and discards the answers of a batch.
  func skipBatch(_ wait: Wait) throws {
    while try !endsBatch(nextResult(wait)) {}
    endBatch()
  }

  func endsBatch(_ result: PostgresResult?) -> Bool {
    result.map { PQresultStatus($0.handle) == PGRES_PIPELINE_SYNC } ?? false
  }

  func endBatch() { unread -= 1 }

  /// Reads the results of a batch; `progress` gets those so far whenever there is another one.
  func readBatch(
    _ places: [Place], _ wait: Wait, progress: ([PostgresResult]) -> Void = { _ in }
  ) throws -> [PostgresResult] {
    var wait = wait
    var results: [PostgresResult] = []
    results.reserveCapacity(places.count)
    var failure: PersistenceError?
    var place = 0
    while true {
      let next: PostgresResult?
      do {
        next = try nextResult(wait)
      } catch let error as Interrupted {
        // The server answers the cancelled statement, so that the connection stays usable.
        failure = failure ?? error.reason
        wait.isReading = false
        wait.isCancelling = true
        // A server that cannot be reached does not answer at all.
        let end = ContinuousClock.now + Self.cancellingTime
        wait.deadline = wait.deadline.map { min($0, end) } ?? end
        continue
      } catch {
        // The server says why it ends a connection before it does.
        throw failure ?? error
      }
      guard let result = next else { continue }
      switch PQresultStatus(result.handle) {
      case PGRES_PIPELINE_SYNC:
        unread -= 1
        lastAnswer = .now
        if let failure { throw failure }
        return results
      case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
        if places.indices.contains(place) {
          switch places[place] {
          case .preparation(let number): prepared[number] = Self.name(number)
          case .deallocation: break
          case .statement:
            results.append(result)
            progress(results)
          }
        }
      case PGRES_PIPELINE_ABORTED: break
      default:
        let error = PostgresErrorMapping.error(result.handle, handle, wait.action, store.location)
        if failure == nil { (rejection, refusedPlace) = (PostgresRejection(result.handle), results.count) }
        // The server's prepared statements are not those that this side knows.
        let isConfused =
          error.isPostgres("42P05") || error.isPostgres("26000")
          || (places.indices.contains(place) && places[place] == .deallocation)
        if error.isLostConnection || isConfused { isBroken = true }
        failure = failure ?? error
        if isBroken { throw failure ?? error }
      }
      place += 1
    }
  }
}
