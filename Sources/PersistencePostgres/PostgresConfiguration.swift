public import PersistenceDriver

/// Options for opening a store in PostgreSQL.
public struct PostgresConfiguration: Sendable {
  /// What is between the client and the server.
  public enum Pooler: String, Sendable, Hashable, CaseIterable {
    /// Nothing, or a pooler that gives each client a server connection of its own.
    case session
    /// A pooler that gives a server connection for one transaction, as PgBouncer in its mode `transaction`: the context
    /// prepares no statements and changes no settings of a session.
    case transaction
  }

  /// Which servers answer reads outside of transactions.
  public enum Readers: String, Sendable, Hashable, CaseIterable {
    /// The primary server, which takes the writes.
    case primary
    /// A standby that has replayed the commits of the context; the primary server while there is none.
    case replica
  }

  /// The schema that contains the store; `public` by default.
  ///
  /// A database can hold many stores, each in a schema of its own.
  public var schema: String

  /// How long a writer waits for another writer before it throws `busy`; 5 seconds by default.
  public var busyTimeout: Duration

  /// How long to wait for a connection before a call throws `unreachable`; 10 seconds by default.
  public var connectTimeout: Duration

  /// How long the server may take for one statement before a call throws `timedOut`; nil, the default, for no limit.
  ///
  /// The client measures the time, so the limit also holds if the server or the network hangs.
  public var statementTimeout: Duration?

  /// Whether to open the store read-only; it must exist.
  public var isReadOnly: Bool

  /// Whether to create a missing store; true by default.
  public var createsMissingStore: Bool

  /// Whether the schema belongs to other programs: their tables are models, and nothing is created in it.
  ///
  /// With nil, the default, it does if it contains tables and no store. With false, the opening creates a store beside
  /// the tables.
  public var isForeign: Bool?

  /// The views of other programs that are models, which are read-only.
  ///
  /// A view needs a column of integers, texts or UUIDs whose values differ in all rows; the opening looks for it.
  public var includedViews: [String]

  /// How many idle connections to keep open; 8 by default.
  public var poolSize: Int

  /// How many different moments results and snapshots may hold before a call throws `busy`; 16 by default.
  ///
  /// Each moment is a transaction on a connection of its own, which keeps old versions of all records on the server. A
  /// snapshot beside results of its moment has a second connection.
  public var pinLimit: Int

  /// How long a result or snapshot may hold a moment before its reads throw `snapshotExpired`; 5 minutes by default.
  public var pinTimeout: Duration

  /// What is between the client and the server.
  public var pooler: Pooler

  /// Which of several servers answer reads outside of transactions; the primary server by default.
  ///
  /// A standby shows commits of other contexts late. A read that follows a commit of its own context sees the commit.
  public var readers: Readers

  /// What to monitor, and where to report it.
  public var monitoring: Monitoring

  /// Makes a configuration.
  public init(
    schema: String = "public", busyTimeout: Duration = .seconds(5), connectTimeout: Duration = .seconds(10),
    statementTimeout: Duration? = nil, isReadOnly: Bool = false, createsMissingStore: Bool = true,
    isForeign: Bool? = nil, includedViews: [String] = [],
    poolSize: Int = 8, pinLimit: Int = 16, pinTimeout: Duration = .seconds(300), pooler: Pooler = .session,
    readers: Readers = .primary, monitoring: Monitoring = Monitoring()
  ) {
    self.schema = schema
    self.busyTimeout = busyTimeout
    self.connectTimeout = connectTimeout
    self.statementTimeout = statementTimeout
    self.isReadOnly = isReadOnly
    self.createsMissingStore = createsMissingStore
    self.isForeign = isForeign
    self.includedViews = includedViews
    self.poolSize = poolSize
    self.pinLimit = pinLimit
    self.pinTimeout = pinTimeout
    self.pooler = pooler
    self.readers = readers
    self.monitoring = monitoring
  }
}
