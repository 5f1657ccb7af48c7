public import PersistenceDriver

/// What a query yields now, and what has changed since the update before.
public struct RecordUpdate<Model: PersistentRecord>: Sendable {
  /// The records, lazily: as they were in one moment, for as long as the result lives.
  public let results: PersistentResults<Model>

  /// What has changed.
  public let changes: ChangeSet
}

/// What a query yields, again after each commit that can affect it: an asynchronous sequence that does not end by itself.
///
/// The first update is there at once. Each one after it shows exactly the changes that it tells of: none is missed, and
/// none is told twice. Who is slow is given the newest state, with all changes since the last one merged.
///
/// A walk observes from its first ``AsyncIterator/next()`` on. It ends where its task is cancelled, with nil, and where
/// the context is closed or cannot be read, with an error; then, and when the iterator is released, nothing of it stays.
public struct RecordUpdates<Model: PersistentRecord>: AsyncSequence, Sendable {
  /// An update.
  public typealias Element = RecordUpdate<Model>

  /// What a walk throws.
  public typealias Failure = PersistenceError

  private let context: any PersistentContext
  private let query: FetchOptions<Model>
  private let options: ObservationOptions

  init(_ context: any PersistentContext, _ query: FetchOptions<Model>, _ options: ObservationOptions) {
    self.context = context
    self.query = query
    self.options = options
  }

  /// Observes the store.
  public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
    private let hold: ObservationHold<Model>

    init(_ observation: Observation<Model>) { hold = ObservationHold(observation) }

    /// The next update, as soon as there is one; nil where the task was cancelled.
    ///
    /// - Throws: ``PersistenceError``.
    public mutating func next() async throws(PersistenceError) -> RecordUpdate<Model>? {
      try await hold.observation.next()
    }

    /// The next update, awaited on behalf of an actor; nil where the task was cancelled.
    ///
    /// - Throws: ``PersistenceError``.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(PersistenceError)
      -> RecordUpdate<Model>?
    {
      try await hold.observation.next()
    }
  }

  /// Begins to observe, at the first call of ``AsyncIterator/next()``.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(Observation(context, query, options))
  }
}

extension PersistentRepository {
  /// The records of a type that fit a condition, again after each commit that can affect them.
  ///
  /// ```swift
  /// for try await update in repository.updates(of: Movie.self, where: \.rating == .pg13) {
  ///   show(update.results)
  /// }
  /// ```
  ///
  /// Commits of this process are told by all engines of this package, whatever part of it makes them; those of other
  /// processes by those whose capabilities say ``Capabilities/noticesOutsideCommits``.
  ///
  /// - Parameters:
  ///   - model: The record's type.
  ///   - predicate: Which records; all by default.
  ///   - sorting: The order; that of the primary key by default.
  ///   - options: How much is remembered of changes, and how other processes are watched.
  ///   - fileID: The file of the call, for reports of results held for long.
  ///   - line: The line of the call.
  /// - Returns: The updates.
  public func updates<Model: PersistentRecord>(
    of model: Model.Type, where predicate: PersistentPredicate<Model> = .all,
    sorted sorting: [SortCriterion<Model>] = [], options: ObservationOptions = ObservationOptions(),
    fileID: String = #fileID, line: UInt = #line
  ) -> RecordUpdates<Model> {
    RecordUpdates(
      context, FetchOptions(predicate: predicate, sorting: sorting, fileID: fileID, line: line), options)
  }

  /// What a query yields, again after each commit that can affect it.
  ///
  /// - Parameters:
  ///   - query: The query; limit and offset are applied to each update, and do not keep changes beyond them from being
  ///     told.
  ///   - options: How much is remembered of changes, and how other processes are watched.
  /// - Returns: The updates.
  public func updates<Model: PersistentRecord>(
    of query: FetchOptions<Model>, options: ObservationOptions = ObservationOptions()
  ) -> RecordUpdates<Model> {
    RecordUpdates(context, query, options)
  }
}

extension Query {
  /// What the query yields, again after each commit that can affect it; see
  /// ``PersistentRepository/updates(of:where:sorted:options:fileID:line:)``.
  ///
  /// - Parameters:
  ///   - observation: How much is remembered of changes, and how other processes are watched.
  ///   - fileID: The file of the call, for reports of results held for long.
  ///   - line: The line of the call.
  /// - Returns: The updates; limit and offset do not keep changes beyond them from being told.
  public func updates(
    _ observation: ObservationOptions = ObservationOptions(), fileID: String = #fileID, line: UInt = #line
  ) -> RecordUpdates<Model> {
    RecordUpdates(context, options(fileID: fileID, line: line), observation)
  }
}
