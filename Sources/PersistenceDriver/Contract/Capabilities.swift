/// What a context can do, declared as values: the only excuses from the contract's rules.
public struct Capabilities: Sendable, Hashable, Codable {
  /// The precision with which a context stores dates.
  public enum DatePrecision: String, Sendable, Hashable, Codable {
    /// Exact to the bit.
    case exact
    /// Exact to the microsecond.
    case microseconds
    /// Exact to the millisecond.
    case milliseconds
  }

  /// Whether committed transactions survive a kill of the process.
  public var isDurable: Bool
  /// Whether several processes may open one store concurrently (contract C2).
  public var isMultiProcess: Bool
  /// Whether the store is a file or folder, which other programs can copy, remove and damage (contract E5).
  public var hasFiles: Bool
  /// Whether the store is read-only.
  public var isReadOnly: Bool
  /// Whether readers and writers wait for each other (contract W6).
  public var readersBlockWriters: Bool
  /// The precision of dates.
  public var datePrecision: DatePrecision
  /// The longest key, in bytes of its text or encoding; nil if only memory limits it.
  public var largestKey: Int?
  /// The longest value, in bytes; nil if only memory limits it.
  public var largestValue: Int?
  /// The longest record, in bytes of its values; nil if only memory limits it.
  public var largestRow: Int?
  /// The store's configured size limit, in bytes (contract E7); nil if only the storage medium limits it.
  public var largestStore: Int?
  /// Whether the engine evaluates predicates.
  public var evaluatesPredicates: Bool
  /// Whether secondary indexes speed up queries, in addition to enforcing uniqueness.
  public var hasSecondaryIndexes: Bool
  /// Whether ``StorageTransaction/drop(_:)`` removes models.
  public var dropsModels: Bool
  /// Whether the context reports its commits to its observers, so that the store can be observed.
  public var reportsCommits: Bool
  /// Whether observers also learn of commits by other processes.
  public var noticesOutsideCommits: Bool
  /// Whether reads detect damaged files: they return what was written, or throw (contract E5).
  ///
  /// A store needs checksums over all of its content for that. Without them, a changed byte within a value is read as
  /// another value.
  public var detectsDamage: Bool
  /// Whether the store reuses the space of old versions while it is in use (contract C3); an append-only log does not.
  public var reclaimsSpace: Bool
  /// Whether the context reads files as mapped memory (contract E5).
  ///
  /// The operating system then ends the process if another program cuts a file off while it is open, or if the device
  /// fails.
  public var mapsFiles: Bool
  /// Whether replayable transactions run at the same time (contract W6).
  public var writesInParallel: Bool
  /// Whether the closure of a replayable transaction may run more than once (contract W2, W3).
  public var replays: Bool
  /// The number of moments that results and snapshots can hold at a time (contract R2); nil if only memory limits it.
  public var pins: Int?
  /// How long a result or snapshot can hold its moment (contract R2); nil if there is no limit.
  public var pinLimit: Duration?

  /// Creates a declaration of capabilities.
  public init(
    isDurable: Bool, isMultiProcess: Bool, hasFiles: Bool = false, isReadOnly: Bool = false,
    readersBlockWriters: Bool = false, datePrecision: DatePrecision = .exact, largestKey: Int? = nil,
    largestValue: Int? = nil, largestRow: Int? = nil, largestStore: Int? = nil, evaluatesPredicates: Bool,
    hasSecondaryIndexes: Bool, dropsModels: Bool = false, reportsCommits: Bool = false,
    noticesOutsideCommits: Bool = false, detectsDamage: Bool = false, reclaimsSpace: Bool = true,
    mapsFiles: Bool = false, writesInParallel: Bool = false, replays: Bool = false, pins: Int? = nil,
    pinLimit: Duration? = nil
  ) {
    self.isDurable = isDurable
    self.isMultiProcess = isMultiProcess
    self.hasFiles = hasFiles
    self.isReadOnly = isReadOnly
    self.readersBlockWriters = readersBlockWriters
    self.datePrecision = datePrecision
    self.largestKey = largestKey
    self.largestValue = largestValue
    self.largestRow = largestRow
    self.largestStore = largestStore
    self.evaluatesPredicates = evaluatesPredicates
    self.hasSecondaryIndexes = hasSecondaryIndexes
    self.dropsModels = dropsModels
    self.reportsCommits = reportsCommits
    self.noticesOutsideCommits = noticesOutsideCommits
    self.detectsDamage = detectsDamage
    self.reclaimsSpace = reclaimsSpace
    self.mapsFiles = mapsFiles
    self.writesInParallel = writesInParallel
    self.replays = replays
    self.pins = pins
    self.pinLimit = pinLimit
  }
}
