public import PersistenceDriver

/// The results of a query, and the changes since the previous update.
public struct RecordUpdate<Record: Sendable>: Sendable {
  /// The records, or tuples of included ones, lazily, from one snapshot.
  public let results: PersistentResults<Record>

  /// The changes since the previous update.
  public let changes: ChangeSet
}

/// The results of a query, updated after each commit that can affect them: an infinite asynchronous sequence.
///
/// The first update is immediate. Each later update contains exactly the changes that its results show; none is lost or
/// repeated. A slow consumer gets the newest state with coalesced changes.
///
/// An iteration observes the store from its first ``AsyncIterator/next()``. After its first update, an error that may pass
/// (``PersistenceError/isRetryable``) delays the next one: it reads again, with delays from the interval of
/// ``ObservationOptions`` to half a minute, and logs that it does. It ends with nil if its task is cancelled, and with an
/// error if the context is closed or cannot be read, or another version of the app changes the model so that it has no
/// mapping (contract S11). It unregisters its observer then, or when the iterator is released.
public struct RecordUpdates<Record: Sendable>: AsyncSequence, Sendable {
  /// An update.
  public typealias Element = RecordUpdate<Record>

  /// The error of an iteration.
  public typealias Failure = PersistenceError

  private let context: any PersistentContext
  private let query: ObservedQuery<Record>
  private let options: ObservationOptions

  init(_ context: any PersistentContext, _ query: ObservedQuery<Record>, _ options: ObservationOptions) {
    self.context = context
    self.query = query
    self.options = options
  }

  /// Observes the store.
  public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
    private let hold: ObservationHold<Record>

    init(_ observation: Observation<Record>) { hold = ObservationHold(observation) }

    /// Waits for the next update; nil if the task was cancelled.
    ///
    /// - Throws: ``PersistenceError``.
    public mutating func next() async throws(PersistenceError) -> RecordUpdate<Record>? {
      try await hold.observation.next()
    }

    /// Waits for the next update on behalf of an actor; nil if the task was cancelled.
    ///
    /// - Throws: ``PersistenceError``.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(PersistenceError)
      -> RecordUpdate<Record>?
    {
      try await hold.observation.next()
    }
  }

  /// Creates an iterator, which observes the store from its first ``AsyncIterator/next()``.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(Observation(context, query, options))
  }
}

extension PersistentRepository {
  /// The records that match a condition, updated after each commit that can affect them.
  ///
  /// ```swift
  /// for try await update in repository.updates(of: Movie.self, where: \.rating == .pg13) {
  ///   show(update.results)
  /// }
  /// ```
  ///
  /// All engines of this package report commits of the process. Engines that declare
  /// ``Capabilities/noticesOutsideCommits`` also detect commits of other processes.
  ///
  /// - Parameters:
  ///   - model: The record's type.
  ///   - predicate: The filter; all records by default.
  ///   - sorting: The order; that of the primary key by default.
  ///   - options: How much is remembered of changes, and how other processes are watched.
  ///   - fileID: The file of the call, for reports of long-held results.
  ///   - line: The line of the call.
  /// - Returns: The updates.
  public func updates<Model: PersistentRecord>(
    of model: Model.Type, where predicate: PersistentPredicate<Model> = .all,
    sorted sorting: [SortCriterion<Model>] = [], options: ObservationOptions = ObservationOptions(),
    fileID: String = #fileID, line: UInt = #line
  ) -> RecordUpdates<Model> {
    updates(
      of: FetchOptions(predicate: predicate, sorting: sorting, fileID: fileID, line: line), options: options)
  }

  /// The results of a query, updated after each commit that can affect them.
  ///
  /// - Parameters:
  ///   - query: The query. Limit and offset apply to the results; changes beyond them are reported too.
  ///   - options: How much is remembered of changes, and how other processes are watched.
  /// - Returns: The updates.
  public func updates<Model: PersistentRecord>(
    of query: FetchOptions<Model>, options: ObservationOptions = ObservationOptions()
  ) -> RecordUpdates<Model> {
    RecordUpdates(context, ObservedQuery(query), options)
  }
}

extension Query {
  /// The results of the query, updated after each commit that can affect them; see
  /// ``PersistentRepository/updates(of:where:sorted:options:fileID:line:)``.
  ///
  /// - Parameters:
  ///   - observation: How much is remembered of changes, and how other processes are watched.
  ///   - fileID: The file of the call, for reports of long-held results.
  ///   - line: The line of the call.
  /// - Returns: The updates, which also report changes beyond limit and offset.
  public func updates(
    _ observation: ObservationOptions = ObservationOptions(), fileID: String = #fileID, line: UInt = #line
  ) -> RecordUpdates<Model> {
    RecordUpdates(context, ObservedQuery(placed(fileID, line)), observation)
  }
}

extension Inclusion {
  /// The tuples, updated after each commit that can affect them.
  ///
  /// Commits to the model of the query are reported with keys, commits to included models as ``ChangeSet/unknown``.
  ///
  /// - Parameters:
  ///   - observation: How much is remembered of changes, and how other processes are watched.
  ///   - fileID: The file of the call, for reports of long-held results.
  ///   - line: The line of the call.
  /// - Returns: The updates.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` in the closure of an inclusion.
  public func updates(
    _ observation: ObservationOptions = ObservationOptions(), fileID: String = #fileID, line: UInt = #line
  ) throws -> RecordUpdates<Element> {
    guard let query else { throw PersistenceError.noQuery }
    return RecordUpdates(
      query.context, ObservedQuery(query.placed(fileID, line), including: self), observation)
  }
}

/// The options of an observation.
public struct ObservationOptions: Sendable {
  /// The maximum number of changed keys to track between two updates; beyond it, an update has
  /// ``ChangeSet/unknown`` changes.
  public var keyLimit: Int

  /// The interval for polling commits of other processes, if the engine detects them; at least a millisecond.
  public var outsideInterval: Duration {
    didSet { outsideInterval = max(outsideInterval, Self.shortestInterval) }
  }

  /// The clock of that interval.
  public var clock: any Clock<Duration>

  /// Creates options.
  ///
  /// - Parameters:
  ///   - keyLimit: The maximum number of keys to track; 10,000 by default.
  ///   - outsideInterval: The interval for polling commits of other processes; a quarter of a second by default.
  ///   - clock: The clock of that interval.
  public init(
    keyLimit: Int = 10_000, outsideInterval: Duration = .milliseconds(250),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.keyLimit = max(0, keyLimit)
    self.outsideInterval = max(outsideInterval, Self.shortestInterval)
    self.clock = clock
  }

  private static let shortestInterval = Duration.milliseconds(1)
}
