/// What a context can do, as values that code can ask: the only excuses from the contract's rules.
public struct Capabilities: Sendable, Hashable, Codable {
  /// How exactly a context keeps dates.
  public enum DatePrecision: String, Sendable, Hashable, Codable {
    /// To the bit.
    case exact
    /// To the microsecond.
    case microseconds
    /// To the millisecond.
    case milliseconds
  }

  /// Whether committed transactions survive the kill of the process.
  public var isDurable: Bool
  /// Whether several processes may open one store at once (contract C2).
  public var isMultiProcess: Bool
  /// Whether the store is a file or a folder at a path, which others can copy, remove and damage (contract E5).
  public var hasFiles: Bool
  /// Whether the store may only be read.
  public var isReadOnly: Bool
  /// Whether readers and writers wait for each other (contract W6).
  public var readersBlockWriters: Bool
  /// How exactly dates are kept.
  public var datePrecision: DatePrecision
  /// The longest key, in bytes of its text or encoding; nil where memory is the only limit.
  public var largestKey: Int?
  /// The longest value, in bytes; nil where memory is the only limit.
  public var largestValue: Int?
  /// The greatest size that the store itself may reach by an option of its own, in bytes (contract E7); nil where
  /// the medium is the only limit.
  public var largestStore: Int?
  /// Whether predicates are evaluated inside the engine.
  public var evaluatesPredicates: Bool
  /// Whether secondary indexes make queries faster, beyond guarding uniqueness.
  public var hasSecondaryIndexes: Bool
  /// Whether models can be removed by ``StorageTransaction/drop(_:)``.
  public var dropsModels: Bool
  /// Whether the context tells ``CommitObservers`` of its commits, so that the store can be observed.
  public var reportsCommits: Bool
  /// Whether commits of other processes are noticed too while somebody observes the store.
  public var noticesOutsideCommits: Bool

  /// Makes a statement of capabilities.
  public init(
    isDurable: Bool, isMultiProcess: Bool, hasFiles: Bool = false, isReadOnly: Bool = false,
    readersBlockWriters: Bool = false, datePrecision: DatePrecision = .exact, largestKey: Int? = nil,
    largestValue: Int? = nil, largestStore: Int? = nil, evaluatesPredicates: Bool, hasSecondaryIndexes: Bool,
    dropsModels: Bool = false, reportsCommits: Bool = false, noticesOutsideCommits: Bool = false
  ) {
    self.isDurable = isDurable
    self.isMultiProcess = isMultiProcess
    self.hasFiles = hasFiles
    self.isReadOnly = isReadOnly
    self.readersBlockWriters = readersBlockWriters
    self.datePrecision = datePrecision
    self.largestKey = largestKey
    self.largestValue = largestValue
    self.largestStore = largestStore
    self.evaluatesPredicates = evaluatesPredicates
    self.hasSecondaryIndexes = hasSecondaryIndexes
    self.dropsModels = dropsModels
    self.reportsCommits = reportsCommits
    self.noticesOutsideCommits = noticesOutsideCommits
  }
}
