import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL
import Synchronization

/// The store at one moment.
final class SQLiteSnapshot: StorageSnapshot, SQLiteReader {
  private let transaction: SQLiteSharedReadTransaction
  private let transactions: SQLiteSharedReadTransactions

  /// Takes over one use of a transaction, which ends with the snapshot.
  fileprivate init(
    _ transaction: SQLiteSharedReadTransaction, of transactions: SQLiteSharedReadTransactions
  ) {
    self.transaction = transaction
    self.transactions = transactions
  }

  // The reference to the transaction outlives this call, so its connection returns to the pool without the lock.
  deinit { transactions.endUse(of: transaction) }

  func withReader<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
    try transaction.withConnection(body)
  }
}

/// A read transaction on one state of the store, shared by the snapshots of that state.
final class SQLiteSharedReadTransaction: @unchecked Sendable {  // the connection is used under the lock only
  private let pool: SQLitePool
  private let connection: SQLiteConnection
  private let lock: NSRecursiveLock
  /// The error after which SQLite ended the transaction; later reads would see newer states.
  private var failure: (any Error)?

  /// Whether SQLite has ended the transaction after an error.
  let hasFailed = Atomic<Bool>(false)

  /// Takes over a connection with an open read transaction.
  init(_ connection: SQLiteConnection, of pool: SQLitePool) {
    self.connection = connection
    self.pool = pool
    lock = connection.readLock
  }

  deinit { pool.giveBack(connection) }

  /// Calls a closure with the connection, on one thread at a time; the closure may call this method again.
  ///
  /// SQLite rolls a transaction back after some errors of reads too, for example if a sort fills the disk. From then on,
  /// each call throws that error.
  func withConnection<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
    lock.lock()
    defer { lock.unlock() }
    if let failure { throw failure }
    do {
      let result = try body(connection)
      // A read inside the closure may have failed, and the closure gone on.
      if let failure { throw failure }
      return result
    } catch {
      if failure == nil, connection.isOutsideTransaction {
        failure = error
        hasFailed.store(true, ordering: .relaxed)
      }
      throw error
    }
  }
}

/// Begins read transactions on the newest state, and shares them between snapshots of one state.
///
/// SQLite has no numbers for states. A connection that never writes, the sentinel, knows whether the store has changed
/// since it was last asked (`PRAGMA data_version`). If not, a new snapshot sees the same state as the previous one.
final class SQLiteSharedReadTransactions: Sendable {
  private let pool: SQLitePool
  private let sharedLimit: Int
  /// Each result of the context that is not copied passes this lock, so threads must not sleep at it (see ``Lock``).
  private let state = Lock(State())

  private struct State {
    var sentinel: SQLiteConnection?
    /// The transactions that snapshots use, except for those of earlier states.
    var transactions: [Used] = []
    /// How many transactions threads are beginning.
    var beginning = 0
    var isClosed = false
  }

  /// A transaction, and how many snapshots use it.
  ///
  /// Weak references would need no count, but make each reference to the transaction slower, and an allocation.
  private struct Used {
    let transaction: SQLiteSharedReadTransaction
    /// The sentinel's data version; nil if it was not asked, and the transaction is not shared.
    let version: Int64?
    var uses: Int
  }

  /// Makes the read transactions of a store, which opens `sharedLimit` of them before it shares them.
  init(_ pool: SQLitePool, sharedLimit: Int) {
    self.pool = pool
    self.sharedLimit = max(1, sharedLimit)
  }

  /// A snapshot of the newest state at some moment between the call and its return.
  ///
  /// - Throws: ``PersistenceError``, and `SnapshotWouldWait` if the thread must not wait for a writer.
  func snapshot() throws -> SQLiteSnapshot {
    var version: Int64?
    let shared = try state.withLock { state -> SQLiteSharedReadTransaction? in
      guard !state.isClosed else { throw PersistenceError.closed("the store") }
      // The only transaction needs no version: most stores never have two results at once, and open no sentinel.
      let isOnly = state.transactions.isEmpty && state.beginning == 0
      version = try isOnly ? nil : self.version(&state)
      let shared = version.flatMap { self.shared(in: &state, of: $0) }
      if shared == nil { state.beginning += 1 }
      return shared
    }
    return SQLiteSnapshot(try shared ?? beginNew(version), of: self)
  }

  /// A transaction of a version to share, with one more use; nil if another one may begin.
  private func shared(in state: inout State, of version: Int64) -> SQLiteSharedReadTransaction? {
    // Their snapshots keep these, so no connection returns to the pool here.
    state.transactions.removeAll { $0.version != nil && $0.version != version }
    guard state.transactions.count + state.beginning >= sharedLimit else { return nil }
    let same = state.transactions.indices.filter { index in
      let used = state.transactions[index]
      return used.version != nil && !used.transaction.hasFailed.load(ordering: .relaxed)
    }
    guard let least = same.min(by: { state.transactions[$0].uses < state.transactions[$1].uses }) else {
      return nil
    }
    state.transactions[least].uses += 1
    return state.transactions[least].transaction
  }

  /// Ends one snapshot's use of a transaction, which the caller still refers to.
  fileprivate func endUse(of transaction: SQLiteSharedReadTransaction) {
    state.withLock { state in
      // A transaction of an earlier state is not among them.
      guard let index = state.transactions.firstIndex(where: { $0.transaction === transaction })
      else { return }
      state.transactions[index].uses -= 1
      if state.transactions[index].uses == 0 { state.transactions.remove(at: index) }
    }
  }

  /// Begins a transaction without the lock: with a rollback journal, the wait for a writer may take long.
  private func beginNew(_ version: Int64?) throws -> SQLiteSharedReadTransaction {
    let begun: SQLiteSharedReadTransaction
    do {
      begun = try beginOnConnection()
    } catch {
      state.withLock { $0.beginning -= 1 }
      throw error
    }
    // If another writer committed since the version was read, the next call sees a new version and does not share.
    state.withLock { state in
      state.beginning -= 1
      state.transactions.append(Used(transaction: begun, version: version, uses: 1))
    }
    return begun
  }

  private func beginOnConnection() throws -> SQLiteSharedReadTransaction {
    let connection = try pool.take()
    do {
      try ObserversLock.isHeld ? connection.beginReadingAtOnce() : connection.beginReading()
    } catch {
      pool.giveBack(connection)
      throw error
    }
    return SQLiteSharedReadTransaction(connection, of: pool)
  }

  /// The version of the newest state; nil if a writer has locked the file, so that no state can be compared.
  private func version(_ state: inout State) throws -> Int64? {
    let sentinel = try state.sentinel ?? pool.openSentinel()
    state.sentinel = sentinel
    do {
      return try sentinel.number(.dataVersion)
    } catch let error as PersistenceError where error.code == .busy {
      return nil
    }
  }

  /// Closes the sentinel; open transactions stay open.
  func close() {
    let sentinel = state.withLock { state in
      state.isClosed = true
      defer { state.sentinel = nil }
      return state.sentinel
    }
    withExtendedLifetime(sentinel) {}
  }
}

/// The reading half of contexts, snapshots and transactions, which provide the connection.
protocol SQLiteReader: StorageReader {
  /// Calls a closure with a connection that has an open transaction and an up-to-date catalog.
  func withReader<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result

  /// The schema of one model; nil where the file does not hold it.
  func schema(of name: StoredName) throws -> ModelSchema?
}

extension SQLiteReader {
  /// Calls a closure that only reads, and that an interruption ends, inside transactions too.
  @inline(__always)
  func withInterruptibleReader<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
    try withReader { connection in try connection.interruptibly { try body(connection) } }
  }

  /// The schemas of all models, including those of foreign tables.
  public func catalog() throws -> [ModelSchema] { try withReader { try $0.schemas() } }

  /// The schema of one model, derived on first use.
  public func schema(named name: String) throws -> ModelSchema? { try schema(of: StoredName(name)) }

  func schema(of name: StoredName) throws -> ModelSchema? { try withReader { try $0.schema(of: name) } }

  /// The objects of the file that models do not represent, such as views and triggers.
  public func unmappedObjects() throws -> [UnmappedObject] {
    try withReader { try $0.unmappedObjects() }
  }

  /// Finds a record by its key.
  public func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    try key.validate(for: schema)
    return try withReader { try $0.find(key, in: schema, body) }
  }

  /// The rows of a request, read from this snapshot or transaction.
  public func fetch(_ request: FetchRequest) throws -> any StorageResults {
    try SQLiteResults(request, in: self)
  }

  /// Selected fields of a request's rows, read from this snapshot or transaction.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try SQLiteResults(request, selecting: positions, in: self)
  }

  /// How many rows a request has; SQLite counts them.
  public func count(_ request: FetchRequest) throws -> Int {
    try withInterruptibleReader { connection in
      guard let model = try connection.model(for: request.schema) else { return 0 }
      return try connection.count(request, of: model)
    }
  }

  /// How SQLite executes a request.
  public func plan(for request: FetchRequest) throws -> QueryPlan { try plan(request, selecting: nil) }

  private func plan(_ request: FetchRequest, selecting positions: [Int]?) throws -> QueryPlan {
    try withReader { connection in
      guard let model = try connection.model(for: request.schema) else {
        return QueryPlan(access: .engine("the store does not hold the model"), ordering: .byEngine)
      }
      return try connection.plan(for: request, selecting: positions, of: model)
    }
  }

  /// The cost of a change of schema: only what `ALTER TABLE` cannot do rewrites records.
  public func cost(of change: SchemaChange) throws -> EvolutionCost {
    try withReader { try $0.evolution(for: change).cost }
  }

  /// The indexes of a model that wait to be built, so that the file does not contain them yet.
  public func unbuiltIndexes(of schema: ModelSchema) throws -> [IndexSchema] {
    try withReader { connection in
      guard try connection.model(for: schema) != nil,
        let layout = connection.catalog?.layouts[StoredName(schema.name)]
      else { return [] }
      return try SQLiteLayout.read(layout).unbuiltIndexes
    }
  }

  /// The plan for whole rows: selecting fields does not change it.
  public func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try request.schema.requirePositions(positions)
    return try plan(request, selecting: positions)
  }
}
