import Foundation
public import PersistenceDriver

/// What an ``OrderedStoreContext`` knows of its store, and its options.
public struct OrderedStoreConfiguration: Sendable {
  /// Whether committed transactions survive the end of the process; true by default.
  public var isDurable = true

  /// Whether several contexts and processes may open the store at the same time; false by default.
  ///
  /// The context then asks for the version before it tells observers what has changed.
  public var isMultiProcess = false

  /// Whether the store is a file or folder; true by default.
  public var hasFiles = true

  /// Whether the store reuses the space of old versions while it is open; true by default, false for a log that only
  /// grows.
  public var reclaimsSpace = true

  /// Whether the context refuses writes; false by default.
  public var isReadOnly = false

  /// The configured size limit of the store in bytes; nil, the default, if only the medium limits it.
  public var largestStore: Int?

  /// How long a writer waits for another one before it throws `busy`; 5 seconds by default.
  public var busyTimeout = Duration.seconds(5)

  /// The memory for sorting index entries during an index build, in bytes; 24 MiB by default.
  public var indexMemory = 24 << 20

  /// The folder of the unnamed file for index entries that exceed the memory; the system's temporary folder by default.
  public var indexFolder = FileManager.default.temporaryDirectory.path

  /// What the context monitors, and where it reports.
  public var monitoring = Monitoring()

  /// The configuration of a durable store of one process, in files, that is opened for writing.
  public init() {}
}

extension Capabilities {
  /// The capabilities of an ordered store.
  ///
  /// Keys have no limit: long ones are cut and looked up by digest.
  init(_ configuration: OrderedStoreConfiguration) {
    self.init(
      isDurable: configuration.isDurable, isMultiProcess: configuration.isMultiProcess,
      hasFiles: configuration.hasFiles, isReadOnly: configuration.isReadOnly, datePrecision: .exact,
      largestKey: nil, largestValue: Int(UInt32.max) - (1 << 20), largestStore: configuration.largestStore,
      evaluatesPredicates: true, hasSecondaryIndexes: true, dropsModels: true, reportsCommits: true,
      noticesOutsideCommits: configuration.isMultiProcess, reclaimsSpace: configuration.reclaimsSpace,
      writesInParallel: false, replays: false)
  }
}
