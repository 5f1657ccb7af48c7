import CPostgres
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL
import Synchronization

/// What all connections of one context share: the address, the configuration, and caches.
final class PostgresStore: Sendable {
  let address: PostgresAddress
  /// The keywords and values for libpq of each attempt to connect, in order.
  let attempts: [[(keyword: String, value: String)]]
  let configuration: PostgresConfiguration
  /// The server, the database and the schema, without secrets.
  let location: String
  let dialect: PostgresDialect
  /// The statements that record the number of a transaction.
  let commitLogs: PostgresCommitLogs
  /// The statements that read the version of the catalog in a store of this package.
  let ownVersionQueries: PostgresVersionQueries

  /// The statements that begin a replayable transaction, and the version of the catalog that they require.
  private let opening = Lock<(version: Int64, commands: [PostgresCommand])?>(nil)
  /// When old numbers of commits were last removed; nil before the first time.
  private let lastPurge = Lock<ContinuousClock.Instant?>(nil)
  private static let purgeInterval = Duration.seconds(10)
  /// A server that does not answer occupies a thread for minutes, so there are not as many as requests to cancel.
  let cancelling = BlockingThreads("persistence cancel", limit: 16)
  private let texts = Lock<[KeyedText: Text]>([:])
  private let tables = Lock<[StoredName: PostgresTable]>([:])
  private let newest = Lock(Newest())
  private let foreignSchema = Lock<PostgresForeignSchema?>(nil)
  private let nextModel = Atomic<UInt32>(1)
  private let nextText = Atomic<Int>(1)
  /// The version of the catalog whose table this user may not use, or which has none.
  private let withoutTable = Atomic<Int64>(0)

  init(_ address: PostgresAddress, _ configuration: PostgresConfiguration) {
    self.address = address
    attempts = address.attempts()
    self.configuration = configuration
    location = address.location + "?schema=\(configuration.schema)"
    dialect = PostgresDialect(schema: configuration.schema)
    commitLogs = PostgresCommitLogs(in: dialect.table("persistence_commits"))
    ownVersionQueries = PostgresVersionQueries(of: dialect.table("persistence_state"))
  }

  /// Whether to remove old numbers of commits now: after the first commit of this context, and then not again within ten
  /// seconds.
  ///
  /// A context that commits rarely removes them whenever it does, so they never grow without bound.
  func beginsPurge(at now: ContinuousClock.Instant = .now) -> Bool {
    lastPurge.withLock { last in
      if let last, now - last < Self.purgeInterval { return false }
      last = now
      return true
    }
  }

  /// A table of this package in the store's schema, quoted.
  func own(_ table: String) -> String { dialect.table("persistence_" + table) }

  /// A statement's text, and the number under which connections prepare it.
  struct Text {
    let sql: String
    let number: Int
  }

  /// What the text of a statement is for.
  private enum KeyedText: Hashable {
    /// A statement of a table; where the version of the catalog is not nil, it fails unless that is the newest.
    case statement(StatementKey, version: Int64?)
    /// A statement that is prepared for parameters of these types.
    case typed(StatementKey, [Oid])
    /// The statement that locks the writers' gate, if a version of the catalog is the newest.
    case gate(version: Int64)

    func hash(into hasher: inout Hasher) {
      switch self {
      case .statement(let key, _), .typed(let key, _): hasher.combine(key.hash)
      case .gate(let version): hasher.combine(version)
      }
    }
  }

  /// How many texts to cache; the cache is emptied when it is full, which is rare.
  private static let textLimit = 2_000

  /// The text of a statement key, from the cache if possible.
  func text(of key: StatementKey, on table: SQLTable) -> Text {
    text(for: .statement(key, version: nil)) { SQLQueryTranslator.text(of: key, on: table, dialect) }
  }

  /// The text of a statement key, with a number of its own for each list of parameter types.
  func text(of key: StatementKey, on table: SQLTable, typed types: [Oid]) -> Text {
    text(for: .typed(key, types)) { SQLQueryTranslator.text(of: key, on: table, dialect) }
  }

  /// The text of the query that finds a record by its key, and fails unless a version of the catalog is the newest.
  func findText(for model: PostgresModel, ifNewest version: Int64) -> Text {
    if let known = model.guardedFind.withLock({ $0 }), known.version == version { return known.text }
    let key = model.key(.find)
    let made = text(for: .statement(key, version: version)) {
      PostgresVersionTable(version, self).guarding(SQLQueryTranslator.text(of: key, on: model.table, dialect))
    }
    model.guardedFind.withLock { $0 = (version, made) }
    return made
  }

  /// The statements that begin a replayable transaction with its first writes, lock the writers' gate, and fail unless a
  /// version of the catalog is the newest; the second one has the whole time-out.
  func openingOfReplayable(ifNewest version: Int64) -> [PostgresCommand] {
    let known = opening.withLock { opening in opening.flatMap { $0.version == version ? $0.commands : nil } }
    if let known { return known }
    let gate = text(for: .gate(version: version)) { PostgresVersionTable(version, self).lockingGate }
    let commands: [PostgresCommand] = [
      .beginReplayable, .lockTimeout(configuration.busyTimeout, prepared: -15),
      PostgresCommand(gate.sql, prepared: gate.number),
    ]
    opening.withLock { $0 = (version, commands) }
    return commands
  }

  private func text(for key: KeyedText, _ make: () -> String) -> Text {
    if let known = texts.withLock({ $0[key] }) { return known }
    let text = Text(sql: make(), number: nextText.add(1, ordering: .relaxed).oldValue)
    return texts.withLock { texts in
      // Two threads may have made the text; both use the first one's number.
      if let known = texts[key] { return known }
      if texts.count >= Self.textLimit { texts.removeAll() }
      texts[key] = text
      return text
    }
  }

  /// A catalog, and the declarations that reads have mapped to it.
  private struct Newest {
    var catalog: PostgresCatalog?
    var models: [ObjectIdentifier: PostgresModel] = [:]
  }

  /// The newest catalog that a connection has read; nil if it is known to be stale.
  var catalog: PostgresCatalog? {
    get { newest.withLock { $0.catalog } }
    set { newest.withLock { $0 = Newest(catalog: newValue) } }
  }

  /// The model of a declaration that a read has mapped to the newest catalog, and the version of that; nil for others.
  func knownModel(for schema: ModelSchema) -> (model: PostgresModel, version: Int64)? {
    newest.withLock { newest in
      guard let version = newest.catalog?.version, let model = newest.models[schema.identity] else {
        return nil
      }
      return (model: model, version: version)
    }
  }

  /// Remembers the model of a declaration, as long as the catalog stays the newest that is known.
  func remember(_ model: PostgresModel, of schema: ModelSchema, at version: Int64) {
    // The model keeps its own declaration. Another one may end, and a third one get its identity.
    guard model.schema.identity == schema.identity else { return }
    newest.withLock { newest in
      guard newest.catalog?.version == version else { return }
      if newest.models.count >= Self.modelLimit { newest.models.removeAll() }
      newest.models[schema.identity] = model
    }
  }

  private static let modelLimit = 500

  /// Whether statements can fail unless a version of the catalog is the newest, as far as this side knows.
  func canGuard(_ version: Int64) -> Bool { !isForeign && withoutTable.load(ordering: .relaxed) != version }

  /// Notes why a statement failed that names the table of a version.
  ///
  /// A newer version has another table, so this concerns a table that is missing, or that the user may not use.
  func noteFailure(_ error: any Error, ofGuard version: Int64) {
    guard let error = error as? PersistenceError, error.isPostgres("42P01") || error.isPostgres("42501")
    else { return }
    withoutTable.store(version, ordering: .relaxed)
  }

  /// The schema of other programs that the opening found; nil for a store of this package.
  var foreign: PostgresForeignSchema? {
    get { foreignSchema.withLock { $0 } }
    set { foreignSchema.withLock { $0 = newValue } }
  }

  /// The table of a definition: the same object as long as the definition is the same, so that its caches live on.
  func table(_ name: StoredName, definedBy layout: String, _ make: () throws -> PostgresTable) rethrows
    -> PostgresTable
  {
    if let known = tables.withLock({ $0[name] }), StoredName(known.definition) == StoredName(layout) {
      return known
    }
    let table = try make()
    tables.withLock { $0[name] = table }
    return table
  }

  /// A number for a declaration of a model, which statement keys contain.
  func nextModelNumber() -> UInt32 { nextModel.add(1, ordering: .relaxed).oldValue }
}
