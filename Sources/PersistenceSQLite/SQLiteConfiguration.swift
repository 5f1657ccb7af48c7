public import PersistenceDriver

/// How a SQLite store is opened.
public struct SQLiteConfiguration: Sendable {
  /// How SQLite undoes and repeats: what lies beside the file while it is in use.
  public enum Journal: String, Sendable, Hashable, CaseIterable {
    /// A write-ahead log: readers and the writer never wait for each other.
    case wal
    /// A rollback journal: a reader keeps the writer waiting, and the writer readers. A context that is opened
    /// so declares ``Capabilities/readersBlockWriters``.
    case delete
  }

  /// When SQLite waits for the medium.
  public enum Synchronous: String, Sendable, Hashable, CaseIterable {
    /// Never: a loss of power may damage the store.
    case off
    /// At checkpoints: a loss of power may lose the last transactions, never damage the store.
    case normal
    /// At every commit: a committed transaction survives a loss of power (contract W5).
    case full
    /// As ``full``, and the folder is synchronised after a journal was deleted.
    case extra
  }

  /// The journal; nil, the default, for a write-ahead log in new files and for what they have in others.
  ///
  /// Naming one changes a file that has the other, which is written into its header.
  public var journal: Journal?

  /// When SQLite waits for the medium; ``Synchronous/full`` by default.
  public var synchronous: Synchronous

  /// How long a writer waits for another before it throws; 5 seconds by default.
  public var busyTimeout: Duration

  /// Whether the store may only be read; then it must exist, and nothing is written beside it that the journal
  /// does not ask for.
  public var isReadOnly: Bool

  /// Whether a file that does not exist is made; true by default.
  public var createsMissingFile: Bool

  /// How many connections for reading are kept open; 8 by default.
  ///
  /// More are opened while more are needed at once. As many pin one state before its results share them.
  public var poolSize: Int

  /// Whether tables that others made are read from end to end first, to find a kind for each column that holds all its
  /// values; false by default.
  ///
  /// SQLite keeps values of any kind in a column of any declared type. Without a survey the declared type decides, and
  /// a cell of another kind is an error. With one, a column of several kinds is a document that tells each value from
  /// every other, computed columns are fields, and a primary key that holds NULL or values that no model's key can be
  /// gives way to the row's number. A store opened so is only read: it is how copying tools look at it.
  public var surveysForeignTables: Bool

  /// Views and virtual tables that are looked at as models, where rows can be told apart; a survey is needed for them.
  public var includedViews: [String]

  /// What is watched and where it is reported.
  public var monitoring: Monitoring

  /// Makes a configuration.
  public init(
    journal: Journal? = nil, synchronous: Synchronous = .full, busyTimeout: Duration = .seconds(5),
    isReadOnly: Bool = false, createsMissingFile: Bool = true, poolSize: Int = 8,
    surveysForeignTables: Bool = false, includedViews: [String] = [], monitoring: Monitoring = Monitoring()
  ) {
    self.journal = journal
    self.synchronous = synchronous
    self.busyTimeout = busyTimeout
    self.isReadOnly = isReadOnly
    self.createsMissingFile = createsMissingFile
    self.poolSize = poolSize
    self.surveysForeignTables = surveysForeignTables
    self.includedViews = includedViews
    self.monitoring = monitoring
  }
}
