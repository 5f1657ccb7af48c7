public import PersistenceDriver

/// The options for opening an LMDB store.
public struct LMDBConfiguration: Sendable {
  /// The durability of a committed transaction.
  ///
  /// At every level it survives a crash of the process.
  public enum Synchronization: String, Sendable, Hashable, CaseIterable {
    /// Survives power loss (contract W5); LMDB syncs twice for every commit.
    case full
    /// Power loss may roll back the last transaction as a whole; LMDB syncs once.
    case last
    /// Power loss may damage the store; LMDB never syncs. Use it for data that can be rebuilt.
    case off
  }

  /// The pages that an opening checks before it uses them.
  ///
  /// LMDB trusts its pages, so that a damaged page which is not checked may end the process. Use
  /// ``VerifiableContext/verify(_:)`` to check everything.
  public enum Checks: String, Sendable, Hashable, CaseIterable {
    /// All pages of a store of up to 256 KiB, or 64 MiB if another process has died with the store open.
    ///
    /// Of a larger store, the pages that the opening itself reads.
    case automatic
    /// All pages, and the first page of each long value; an opening takes time in proportion to the store.
    case structure
  }

  /// The largest size of the store in bytes.
  ///
  /// By default, it is the size recorded in the store, and ``defaultMapSize`` for a new one.
  ///
  /// It is address space, not disk or memory, so a large size costs nothing. The store records it, so all
  /// processes agree, and it only grows. It never changes while a result lives (contract E7).
  public var mapSize: Int?

  /// The durability of a committed transaction; ``Synchronization/full`` by default.
  ///
  /// Each writer chooses its own, also if other contexts have the same store open.
  public var synchronization: Synchronization

  /// How long a writer waits for another one before it throws; 5 seconds by default.
  public var busyTimeout: Duration

  /// Whether the store is opened for reading only.
  ///
  /// The store must exist then, and only LMDB's reader table is written.
  public var isReadOnly: Bool

  /// Whether a missing store is created; true by default.
  public var createsMissingStore: Bool

  /// Whether the system reads ahead in the file; true by default.
  ///
  /// Without readahead, the first lookups in a large store that is not in memory are much faster, and a full
  /// scan much slower.
  public var readsAhead: Bool

  /// The largest number of snapshots and concurrent reads of all processes; 510 by default.
  ///
  /// The first process that opens the store sets it.
  public var maximumReaders: Int

  /// The memory for sorting index entries during an index build, in bytes; 24 MiB by default.
  ///
  /// About as many bytes are written in one transaction of LMDB, also by a change of schema that rewrites all records.
  ///
  /// The first context of the process that opens the store sets it.
  public var indexMemory = 24 << 20

  /// Overrides the choice of query plans, for tests.
  ///
  /// The closure takes the number of plans that can answer a query, and returns the position of one. The
  /// first context of the process that opens the store sets it.
  package var planChooser: (@Sendable (_ count: Int) -> Int)?

  /// The pages that the opening checks; ``Checks/automatic`` by default.
  ///
  /// Damage throws `damaged`, and names the page.
  public var checks = Checks.automatic

  /// What the context monitors, and where it reports.
  public var monitoring: Monitoring

  /// The map size of a new store by default: 1 TiB, or the largest fraction of it that the system grants.
  public static let defaultMapSize = 1 << 40

  /// Creates a configuration.
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
