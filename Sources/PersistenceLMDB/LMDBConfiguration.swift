public import PersistenceDriver

/// How an LMDB store is opened.
public struct LMDBConfiguration: Sendable {
  /// What a committed transaction survives; the kill of the process at any level.
  public enum Synchronization: String, Sendable, Hashable, CaseIterable {
    /// The loss of power too (contract W5): LMDB waits for the medium at every commit, twice.
    case full
    /// The loss of power but for the last transaction, which may be undone as a whole: LMDB waits once.
    case last
    /// Nothing more: a loss of power may damage the store. LMDB never waits; for data that can be made anew.
    case off
  }

  /// The largest size that the store may grow to, in bytes; nil, the default, for what is recorded in the store,
  /// and ``defaultMapSize`` in a new one.
  ///
  /// It is address space, not disk or memory: a large one costs nothing. The size is recorded in the store, so
  /// that all processes agree on it, and only ever grows. It is never changed while a result lives (contract E7).
  public var mapSize: Int?

  /// What a committed transaction survives; ``Synchronization/full`` by default.
  ///
  /// It is the writer's own choice, also where other contexts have the same store open.
  public var synchronization: Synchronization

  /// How long a writer waits for another before it throws; 5 seconds by default.
  public var busyTimeout: Duration

  /// Whether the store may only be read; then it must exist, and nothing is written but LMDB's table of readers.
  public var isReadOnly: Bool

  /// Whether a store that does not exist is made; true by default.
  public var createsMissingStore: Bool

  /// Whether the system reads ahead in the file; true by default.
  ///
  /// Without, the first look into a large store that is not in memory is much quicker, and a scan of all of it
  /// much slower.
  public var readsAhead: Bool

  /// How many snapshots and concurrent reads all processes may have at once; 510 by default.
  ///
  /// It is settled by whoever opens the store first.
  public var maximumReaders: Int

  /// How many bytes of index entries are sorted in memory at once where indexes are built over records that are there,
  /// and about how many are written in one transaction then; 24 MiB by default.
  ///
  /// It is settled by whoever opens the store first.
  public var indexMemory = 24 << 20

  /// Whether queries take any plan that can answer them instead of the best one; false by default.
  ///
  /// It is for tests: answers are the same, and slower. It is settled by whoever opens the store first.
  public var takesAnyPlan = false

  /// What is watched and where it is reported.
  public var monitoring: Monitoring

  /// The map of a new store, where no size is given: 1 TiB, or the largest half, quarter… of it that the system
  /// grants.
  public static let defaultMapSize = 1 << 40

  /// Makes a configuration.
  public init(
    mapSize: Int? = nil, synchronization: Synchronization = .full, busyTimeout: Duration = .seconds(5),
    isReadOnly: Bool = false, createsMissingStore: Bool = true, readsAhead: Bool = true,
    maximumReaders: Int = 510, monitoring: Monitoring = Monitoring()
  ) {
    self.mapSize = mapSize
    self.synchronization = synchronization
    self.busyTimeout = busyTimeout
    self.isReadOnly = isReadOnly
    self.createsMissingStore = createsMissingStore
    self.readsAhead = readsAhead
    self.maximumReaders = maximumReaders
    self.monitoring = monitoring
  }
}
