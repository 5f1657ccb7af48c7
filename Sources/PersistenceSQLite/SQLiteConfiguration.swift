public import PersistenceDriver

/// Options for opening a SQLite store.
public struct SQLiteConfiguration: Sendable {
  /// The journal mode, which decides whether readers and writers block each other.
  public enum Journal: String, Sendable, Hashable, CaseIterable {
    /// A write-ahead log: readers and the writer never wait for each other.
    case wal
    /// A rollback journal: readers and the writer block each other, which the context declares by
    /// ``Capabilities/readersBlockWriters``.
    case delete
  }

  /// When SQLite waits until data is on disk.
  public enum Synchronous: String, Sendable, Hashable, CaseIterable {
    /// Never: a power loss may damage the store.
    case off
    /// At checkpoints: a power loss may lose the last transactions, but does not damage the store. With the journal
    /// ``Journal/delete``, SQLite says this of current file systems only.
    case normal
    /// At every commit: a committed transaction survives a power loss (contract W5).
    case full
    /// The same as ``full``, which uses this level of SQLite.
    case extra
  }

  /// The journal mode; nil, the default, means a write-ahead log for new files, and the current mode for existing ones.
  ///
  /// Setting it changes the mode of an existing file permanently.
  public var journal: Journal?

  /// When SQLite waits until data is on disk; ``Synchronous/full`` by default.
  public var synchronous: Synchronous

  /// How long a writer waits for another writer before it throws; 5 seconds by default.
  public var busyTimeout: Duration

  /// Whether to open the store read-only; it must exist, and only the files that its journal mode needs are written.
  public var isReadOnly: Bool

  /// Whether to create a missing file; true by default.
  public var createsMissingFile: Bool

  /// How many idle connections for reading to keep open; 8 by default.
  ///
  /// The context opens more while more are in use. Snapshots share connections once this many hold snapshots.
  public var poolSize: Int

  /// Whether to read the tables of other programs completely, to find a kind for each column that represents all its
  /// values; false by default.
  ///
  /// SQLite stores values of any kind in a column of any declared type. Without a survey, the declared type decides,
  /// and a value of another kind is an error. A survey has these effects:
  ///
  /// - A column with values of several kinds becomes a document, in which different values stay different.
  /// - Generated columns become fields.
  /// - The row ID replaces a primary key that contains NULL, or values that no model's key can have.
  ///
  /// A surveyed store is read-only; copying tools use surveys.
  public var surveysForeignTables: Bool

  /// Views and virtual tables to include as models, if a column identifies their rows; this needs a survey.
  public var includedViews: [String]

  /// Whether each page of the store has a checksum, so that damage to the file throws `damaged` instead of returning changed
  /// data; nil, the default, accepts both.
  ///
  /// It is a property of the store, set when the store is created: every later opening verifies and maintains the
  /// checksums, whatever it passes. An existing store without them throws `unsupported` if this is true; copy it to a new
  /// one. A checksum covers the page's number as well. It is verified when a page is read from the file, and computed when
  /// it is written there; a page holds eight bytes less. Other programs may read the store. A page that they write is
  /// reported as damaged, unless they compute checksums as `CSQLiteFiles` does.
  public var checksums: Bool?

  /// The names of models whose new tables are clustered: SQLite keeps their rows in the order of the key, in one B-tree
  /// (`WITHOUT ROWID`); none by default.
  ///
  /// Models with text, UUID or composite keys whose records take at most 200 bytes are always clustered. Texts outside
  /// the key, URLs, data and documents may be longer, so name the models in which they are short. SQLite reads the rows
  /// of a clustered table in the order of the key two to four times as fast; records of more than a kibibyte it finds
  /// three times as slowly.
  ///
  /// A table keeps its layout. A table with a single integer key is in the order of the key already.
  public var clusteredModels: [String]

  /// What to monitor, and where to report it.
  public var monitoring: Monitoring

  /// Makes a configuration.
  public init(
    journal: Journal? = nil, synchronous: Synchronous = .full, busyTimeout: Duration = .seconds(5),
    isReadOnly: Bool = false, createsMissingFile: Bool = true, poolSize: Int = 8,
    surveysForeignTables: Bool = false, includedViews: [String] = [], checksums: Bool? = nil,
    clusteredModels: [String] = [], monitoring: Monitoring = Monitoring()
  ) {
    self.journal = journal
    self.synchronous = synchronous
    self.busyTimeout = busyTimeout
    self.isReadOnly = isReadOnly
    self.createsMissingFile = createsMissingFile
    self.poolSize = poolSize
    self.surveysForeignTables = surveysForeignTables
    self.includedViews = includedViews
    self.checksums = checksums
    self.clusteredModels = clusteredModels
    self.monitoring = monitoring
  }
}
