public import PersistenceCore

/// A capability that a check needs; a context that declares to lack it is excused.
///
/// Nothing else excuses a context (contract, "Capabilities").
public enum Requirement: Sendable, Hashable, Codable {
  /// The store is writable.
  case writable
  /// Committed data outlives the context and the process.
  case durable
  /// Several contexts and processes can open one store.
  case multiProcess
  /// The store is a file or a folder at a path.
  case files
  /// The suite can record the file calls of the worker: it runs on Linux with the GNU C library and a C compiler, and the
  /// worker is linked dynamically.
  case recordedFileCalls
  /// The suite has a small disk to fill: on Linux, a user who may mount one in memory.
  case fillableDisk
  /// Readers and writers do not block each other.
  case readersBesideWriters
  /// Dates keep their exact bits.
  case exactDates
  /// The store accepts keys of this size.
  case keys(ofBytes: Int)
  /// The store accepts values of this size.
  case values(ofBytes: Int)
  /// The store has a configurable maximum size.
  case boundedStore
  /// The store can drop models.
  case droppingModels
  /// The context reports its commits to observers.
  case reportingCommits
  /// The context reports other processes' commits to observers.
  case noticingOutsideCommits
  /// Reads detect damaged files.
  case detectingDamage
  /// The store reuses the space of old versions while it is in use.
  case reclaimingSpace
  /// The context does not map files into memory.
  case unmappedFiles
  /// The engine runs in this process, not in a server, which is told of an interruption while it computes.
  case ownEngine

  /// Returns whether a context with these capabilities meets the requirement.
  public func isMet(by capabilities: Capabilities) -> Bool {
    switch self {
    case .writable: !capabilities.isReadOnly
    case .durable: capabilities.isDurable
    case .multiProcess: capabilities.isMultiProcess
    case .files: capabilities.hasFiles
    case .recordedFileCalls: FileRecorder.obstacle == nil
    case .fillableDisk: SmallDisk.isAvailable
    case .readersBesideWriters: !capabilities.readersBlockWriters
    case .exactDates: capabilities.datePrecision == .exact
    case .keys(let bytes): capabilities.largestKey.map { $0 >= bytes } ?? true
    case .values(let bytes): capabilities.largestValue.map { $0 >= bytes } ?? true
    case .boundedStore: capabilities.largestStore != nil
    case .droppingModels: capabilities.dropsModels
    case .reportingCommits: capabilities.reportsCommits
    case .noticingOutsideCommits: capabilities.noticesOutsideCommits
    case .detectingDamage: capabilities.detectsDamage
    case .reclaimingSpace: capabilities.reclaimsSpace
    case .unmappedFiles: !capabilities.mapsFiles
    case .ownEngine: capabilities.hasFiles || !capabilities.isMultiProcess
    }
  }

  /// The capability that excuses a context, and its value.
  public var capability: String {
    switch self {
    case .writable: "isReadOnly"
    case .durable: "isDurable: false"
    case .multiProcess: "isMultiProcess: false"
    case .files: "hasFiles: false"
    case .recordedFileCalls:
      "recordedFileCalls: \(FileRecorder.obstacle?.description ?? "the worker is statically linked")"
    case .fillableDisk: "fillableDisk: this process may not mount a disk in memory"
    case .readersBesideWriters: "readersBlockWriters"
    case .exactDates: "datePrecision"
    case .keys(let bytes): "largestKey below \(bytes)"
    case .values(let bytes): "largestValue below \(bytes)"
    case .boundedStore: "largestStore: nil"
    case .droppingModels: "dropsModels: false"
    case .reportingCommits: "reportsCommits: false"
    case .noticingOutsideCommits: "noticesOutsideCommits: false"
    case .detectingDamage: "detectsDamage: false"
    case .reclaimingSpace: "reclaimsSpace: false"
    case .unmappedFiles: "mapsFiles"
    case .ownEngine: "hasFiles: false"
    }
  }
}
