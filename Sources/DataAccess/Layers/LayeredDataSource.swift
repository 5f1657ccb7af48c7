import Foundation
public import PersistenceCore
import PersistenceDriver

/// A data source of up to three layers: a cache, a local and a remote data source.
///
/// Callers need not know which layer answers. ``answer(to:strategy:)`` returns the layer and the age of the
/// answer.
///
/// ```swift
/// let movies = try LayeredDataSource(
///   cache: CacheDataSource<Movie>(), local: repository.dataSource(of: Movie.self), remote: remote)
/// let found = try await movies.filter(where: \.year > 2000).result()
/// ```
///
/// The remote layer is authoritative; without one, the local layer is. Each other layer records which regions
/// it holds completely, so it never returns three cached movies as all movies. Documentation/Layers.md
/// describes deletions, conflicts and failures.
public final class LayeredDataSource<Object: PersistentRecord>: DataSource {
  let core: LayerCore<Object>

  /// The writes that wait for the remote layer; nil unless writes start in the local layer.
  public var outbox: Outbox<Object>? { core.outbox }

  /// Creates a layered data source.
  ///
  /// It starts to send outbox entries of an earlier run.
  ///
  /// - Parameters:
  ///   - cache: The nearest layer.
  ///   - local: The layer on this device.
  ///   - remote: The authoritative layer.
  ///   - options: The options.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if there is no layer, or
  ///   ``PersistenceError/Code/unsupported`` if writes start in a local layer that cannot keep an outbox.
  public init(
    cache: (any DataSource<Object>)? = nil, local: (any DataSource<Object>)? = nil,
    remote: (any DataSource<Object>)? = nil, options: LayerOptions<Object> = LayerOptions()
  ) throws(PersistenceError) {
    core = try LayerCore(cache: cache, local: local, remote: remote, options: options)
    if let sender = core.outbox?.sender { Task { await sender.wake() } }
  }

  deinit {
    if let sender = core.outbox?.sender { Task { await sender.stop() } }
  }

  /// Whether the authoritative layer returns objects in contract order.
  public var hasContractOrder: Bool { core.topSource.hasContractOrder }

  // MARK: Writing

  /// Inserts an object.
  @discardableResult
  public func insert(_ object: Object) async throws(PersistenceError) -> Object {
    try await write(.insert(object), mayRepeat: false) { source throws(PersistenceError) in
      try await source.insert(object)
    }
  }

  /// Replaces the object of the same key.
  @discardableResult
  public func update(_ object: Object) async throws(PersistenceError) -> Object {
    try await write(.update(object, replacing: nil), mayRepeat: true) { source throws(PersistenceError) in
      try await source.update(object)
    }
  }

  /// Replaces the object of the same key if the stored object equals the expected one.
  @discardableResult
  public func update(_ object: Object, replacing expected: Object) async throws(PersistenceError) -> Object {
    try await write(.update(object, replacing: expected), mayRepeat: false) {
      source throws(PersistenceError) in
      try await source.update(object, replacing: expected)
    }
  }

  /// Inserts an object, or replaces the one of the same key.
  @discardableResult
  public func save(_ object: Object) async throws(PersistenceError) -> Object {
    try await write(.save(object), mayRepeat: true) { source throws(PersistenceError) in
      try await source.save(object)
    }
  }

  /// Deletes the object of the same key.
  @discardableResult
  public func delete(_ object: Object) async throws(PersistenceError) -> Object? {
    let change = ObjectChange.delete(object)
    if let outbox = core.outbox { return try await outbox.writes.write([change])?.first ?? nil }
    return try await core.write([change], mayRepeat: true) { source throws(PersistenceError) in
      try await source.delete(object)
    } replicating: { _ in
      [change]
    }
  }

  /// Applies all changes of a batch or none, once for each batch id.
  @discardableResult
  public func apply(_ batch: ChangeBatch<Object>) async throws(PersistenceError) -> Bool {
    if let outbox = core.outbox {
      return try await outbox.writes.write(batch.changes, id: batch.id, once: true) != nil
    }
    return try await core.write(batch.changes, mayRepeat: true) { source throws(PersistenceError) in
      try await source.apply(batch)
    } replicating: { isNew in
      isNew ? batch.changes.map(\.unconditional) : nil
    }
  }

  private func write(
    _ change: ObjectChange<Object>, mayRepeat: Bool,
    _ body: @escaping @Sendable (AnyDataSource<Object>) async throws(PersistenceError) -> Object
  ) async throws(PersistenceError) -> Object {
    if let outbox = core.outbox {
      _ = try await outbox.writes.write([change])
      return change.object
    }
    return try await core.write([change], mayRepeat: mayRepeat, body) { [.save($0)] }
  }

  // MARK: Reading

  /// The objects that match a query, with their layer and age.
  ///
  /// - Parameters:
  ///   - query: The predicate, order and limits.
  ///   - strategy: The strategy; nil for that of the options.
  /// - Returns: The answer. If no layer has a complete one, it is the part that the nearest layer holds.
  /// - Throws: ``PersistenceError`` if no layer holds a part of it.
  public func answer(
    to query: FetchOptions<Object>, strategy: RetrievalStrategy? = nil
  ) async throws(PersistenceError) -> LayeredAnswer<[Object]> {
    let layerQuery = try mappingErrors { try LayerQuery<Object>(query) }
    return try await core.answer(layerQuery, strategy ?? core.options.strategy)
  }

  /// The object of a key, with its layer and age.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - strategy: The strategy; nil for that of the options.
  /// - Returns: The answer, whose value is nil if the object does not exist.
  /// - Throws: ``PersistenceError`` if no layer knows the key.
  public func answer(
    for key: Object.PrimaryKey, strategy: RetrievalStrategy? = nil
  ) async throws(PersistenceError) -> LayeredAnswer<Object?> {
    let layerQuery = try mappingErrors { try LayerQuery<Object>(key) }
    return try await core.answer(layerQuery, strategy ?? core.options.strategy).map(\.first)
  }

  /// The objects that match a query, as each layer answers.
  ///
  /// Each answer is of a better layer than the previous one and differs from it.
  ///
  /// - Parameter query: The predicate, order and limits.
  /// - Returns: The answers. They end with an error if the authoritative layer failed; the last answer is then
  ///   the best available.
  public func answers(to query: FetchOptions<Object>) -> LayeredAnswers<[Object]> {
    let core = core
    return LayeredAnswers {
      let layerQuery = Result { try LayerQuery<Object>(query) }
      let iterator = layerQuery.map { AnswerIterator(core, $0) }
      return { () async throws(PersistenceError) in
        try await mappingErrors { try iterator.get() }.next()
      }
    }
  }

  /// The object of a key, as each layer answers.
  ///
  /// - Parameter key: The key.
  /// - Returns: The answers, whose value is nil if the object does not exist.
  public func answers(for key: Object.PrimaryKey) -> LayeredAnswers<Object?> {
    let core = core
    return LayeredAnswers {
      let iterator = Result { AnswerIterator(core, try LayerQuery<Object>(key)) }
      return { () async throws(PersistenceError) in
        try await mappingErrors { try iterator.get() }.next()?.map(\.first)
      }
    }
  }

  /// The object of a key.
  public func find(_ key: Object.PrimaryKey) async throws(PersistenceError) -> Object? {
    let layerQuery = try mappingErrors { try LayerQuery<Object>(key) }
    return try await core.completeAnswer(layerQuery).first
  }

  /// All objects that match a query.
  public func execute(_ query: FetchOptions<Object>) async throws(PersistenceError) -> [Object] {
    let layerQuery = try mappingErrors { try LayerQuery<Object>(query) }
    return try await core.completeAnswer(layerQuery)
  }

  /// The number of objects that match a query, from the authoritative layer or one that holds all of them.
  public func count(_ query: FetchOptions<Object>) async throws(PersistenceError) -> Int {
    let layerQuery = try mappingErrors { try LayerQuery<Object>(query) }
    return try await core.count(layerQuery, query)
  }
}
