import Foundation
public import PersistenceCore
import PersistenceDriver

/// A store made of layers: a cache, a store on this device and a remote one, each of which may be absent.
///
/// Whoever asks it does not know which of them answered, unless it wants to: ``answer(to:strategy:)`` says where an
/// answer came from and how old it is.
///
/// ```swift
/// let movies = try LayeredDataSource(
///   cache: CacheDataSource<Movie>(), local: repository.dataSource(of: Movie.self), remote: remote)
/// let found = try await movies.filter(where: \.year > 2000).result()
/// ```
///
/// The remote store decides what is true; where there is none, the local one does. Of what lies below it is known which
/// parts it holds whole, so that three movies that happen to be there are not taken for all. What happens to deletes,
/// conflicts and failures is written down in Documentation/Layers.md.
public final class LayeredDataSource<Object: PersistentRecord>: DataSource {
  private let core: LayerCore<Object>

  /// The writes that wait for the remote store; nil where writes go there first.
  public var outbox: Outbox<Object>? { core.outbox }

  /// Makes a store of layers.
  ///
  /// Entries that wait in the outbox from an earlier run are sent from now on.
  ///
  /// - Parameters:
  ///   - cache: The nearest layer.
  ///   - local: The layer on this device.
  ///   - remote: The layer that decides.
  ///   - options: How the layers are used.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` where there is no layer at all, and
  ///   ``PersistenceError/Code/unsupported`` where writes are to go to a local store first that keeps no outbox.
  public init(
    cache: (any DataSource<Object>)? = nil, local: (any DataSource<Object>)? = nil,
    remote: (any DataSource<Object>)? = nil,
    options: LayerOptions<Object> = LayerOptions()
  ) throws(PersistenceError) {
    core = try LayerCore(cache: cache, local: local, remote: remote, options: options)
    if let sender = core.outbox?.sender { Task { await sender.kick() } }
  }

  deinit {
    if let sender = core.outbox?.sender { Task { await sender.stop() } }
  }

  /// Whether the store that decides answers in the order of the contract.
  public var hasContractOrder: Bool { core.topStore.hasContractOrder }

  // MARK: Writing

  /// Adds an object.
  @discardableResult
  public func insert(_ object: Object) async throws(PersistenceError) -> Object {
    try await write(.insert(object), mayRepeat: false) { store throws(PersistenceError) in
      try await store.insert(object)
    }
  }

  /// Replaces the object of the same key.
  @discardableResult
  public func update(_ object: Object) async throws(PersistenceError) -> Object {
    try await write(.update(object, replacing: nil), mayRepeat: true) { store throws(PersistenceError) in
      try await store.update(object)
    }
  }

  /// Replaces the object of the same key, if what is stored is still what was expected.
  @discardableResult
  public func update(_ object: Object, replacing expected: Object) async throws(PersistenceError) -> Object {
    try await write(.update(object, replacing: expected), mayRepeat: false) {
      store throws(PersistenceError) in
      try await store.update(object, replacing: expected)
    }
  }

  /// Adds an object, or replaces the one of the same key.
  @discardableResult
  public func save(_ object: Object) async throws(PersistenceError) -> Object {
    try await write(.save(object), mayRepeat: true) { store throws(PersistenceError) in
      try await store.save(object)
    }
  }

  /// Deletes the object of the same key.
  @discardableResult
  public func delete(_ object: Object) async throws(PersistenceError) -> Object? {
    let change = ObjectChange.delete(object)
    if let outbox = core.outbox { return try await outbox.writes.write([change])?.first ?? nil }
    return try await core.write([change], mayRepeat: true) { store throws(PersistenceError) in
      try await store.delete(object)
    } settled: { _ in
      [change]
    }
  }

  /// Makes several changes, all of them or none, once however often the batch is sent.
  @discardableResult
  public func apply(_ batch: ChangeBatch<Object>) async throws(PersistenceError) -> Bool {
    if let outbox = core.outbox {
      return try await outbox.writes.write(batch.changes, id: batch.id, once: true) != nil
    }
    return try await core.write(batch.changes, mayRepeat: true) { store throws(PersistenceError) in
      try await store.apply(batch)
    } settled: { isNew in
      isNew ? batch.changes.map(\.settled) : nil
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

  /// The objects of a query, with where they came from and how old they are.
  ///
  /// - Parameters:
  ///   - query: Which objects, in what order.
  ///   - strategy: Which layers are asked; the options' strategy where it is nil.
  /// - Returns: The answer. Where no layer can answer whole it is what the nearest holds, and says that it is not
  ///   complete.
  /// - Throws: ``PersistenceError`` where no layer holds anything of it either.
  public func answer(
    to query: FetchOptions<Object>, strategy: RetrievalStrategy? = nil
  ) async throws(PersistenceError) -> LayeredAnswer<[Object]> {
    let question = try caught { try LayerQuery<Object>(query) }
    return try await core.answer(question, strategy ?? core.options.strategy)
  }

  /// The object of a key, with where it came from and how old it is.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - strategy: Which layers are asked; the options' strategy where it is nil.
  /// - Returns: The answer, whose value is nil where there is no such object.
  /// - Throws: ``PersistenceError`` where no layer knows.
  public func answer(
    for key: Object.PrimaryKey, strategy: RetrievalStrategy? = nil
  ) async throws(PersistenceError) -> LayeredAnswer<Object?> {
    let question = try caught { try LayerQuery<Object>(key) }
    return try await core.answer(question, strategy ?? core.options.strategy).map(\.first)
  }

  /// The objects of a query as one layer after the other gives them: each answer is of a better layer than the one before,
  /// and differs from it.
  ///
  /// - Parameter query: Which objects, in what order.
  /// - Returns: The answers. They end with an error where the layer that decides did not answer: the last of them is then
  ///   the best there is.
  public func answers(to query: FetchOptions<Object>) -> LayeredAnswers<[Object]> {
    let core = core
    return LayeredAnswers {
      let question = Result { try LayerQuery<Object>(query) }
      let walk = question.map { AnswerWalk(core, $0) }
      return { () async throws(PersistenceError) in
        try await caught { try walk.get() }.next()
      }
    }
  }

  /// The object of a key as one layer after the other gives it.
  ///
  /// - Parameter key: The key.
  /// - Returns: The answers, whose value is nil where there is no such object.
  public func answers(for key: Object.PrimaryKey) -> LayeredAnswers<Object?> {
    let core = core
    return LayeredAnswers {
      let walk = Result { AnswerWalk(core, try LayerQuery<Object>(key)) }
      return { () async throws(PersistenceError) in
        try await caught { try walk.get() }.next()?.map(\.first)
      }
    }
  }

  /// The object of a key.
  public func find(_ key: Object.PrimaryKey) async throws(PersistenceError) -> Object? {
    let question = try caught { try LayerQuery<Object>(key) }
    return try await core.completeAnswer(question).first
  }

  /// The objects of a query, whole.
  public func execute(_ query: FetchOptions<Object>) async throws(PersistenceError) -> [Object] {
    let question = try caught { try LayerQuery<Object>(query) }
    return try await core.completeAnswer(question)
  }

  /// How many objects a query has: the store that decides is asked, or a layer that holds all of them.
  public func count(_ query: FetchOptions<Object>) async throws(PersistenceError) -> Int {
    let question = try caught { try LayerQuery<Object>(query) }
    return try await core.count(question, query)
  }
}
