public import PersistenceCore

/// A capability that a check needs: where a context declares that it does not have it, the context is excused.
///
/// There is no other excuse (contract, "Capabilities").
public enum Requirement: Sendable, Hashable, Codable {
  /// The store may be written to.
  case writable
  /// What was committed outlives the context and the process.
  case durable
  /// Several contexts and processes may open one store.
  case multiProcess
  /// The store is a file or a folder at a path.
  case files
  /// Readers and writers do not wait for each other.
  case readersBesideWriters
  /// Dates are kept to the bit.
  case exactDates
  /// Keys of so many bytes can be kept.
  case keys(ofBytes: Int)
  /// Values of so many bytes can be kept.
  case values(ofBytes: Int)
  /// The store has a greatest size of its own.
  case boundedStore
  /// Models can be removed.
  case droppingModels
  /// Observers are told of commits.
  case reportingCommits
  /// Observers are told of other processes' commits.
  case noticingOutsideCommits

  /// Whether a context with these capabilities has what is needed.
  public func isMet(by capabilities: Capabilities) -> Bool {
    switch self {
    case .writable: !capabilities.isReadOnly
    case .durable: capabilities.isDurable
    case .multiProcess: capabilities.isMultiProcess
    case .files: capabilities.hasFiles
    case .readersBesideWriters: !capabilities.readersBlockWriters
    case .exactDates: capabilities.datePrecision == .exact
    case .keys(let bytes): capabilities.largestKey.map { $0 >= bytes } ?? true
    case .values(let bytes): capabilities.largestValue.map { $0 >= bytes } ?? true
    case .boundedStore: capabilities.largestStore != nil
    case .droppingModels: capabilities.dropsModels
    case .reportingCommits: capabilities.reportsCommits
    case .noticingOutsideCommits: capabilities.noticesOutsideCommits
    }
  }

  /// The capability that excuses, with the value that does.
  public var capability: String {
    switch self {
    case .writable: "isReadOnly"
    case .durable: "isDurable: false"
    case .multiProcess: "isMultiProcess: false"
    case .files: "hasFiles: false"
    case .readersBesideWriters: "readersBlockWriters"
    case .exactDates: "datePrecision"
    case .keys(let bytes): "largestKey below \(bytes)"
    case .values(let bytes): "largestValue below \(bytes)"
    case .boundedStore: "largestStore: nil"
    case .droppingModels: "dropsModels: false"
    case .reportingCommits: "reportsCommits: false"
    case .noticingOutsideCommits: "noticesOutsideCommits: false"
    }
  }
}
