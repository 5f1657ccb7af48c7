import PersistenceDriver
import PersistenceDriverSupport

/// The models of a store that have been met, so that a request costs no look at the catalog.
///
/// As long as models are only added to a catalog, what was read once stays true for every other state; in an earlier
/// one such a model simply has no records. Where one was dropped, or its indexes were built, that no longer holds, so the
/// catalog counts how often that was done, its *generation*: the cache speaks for the states of the newest generation that it has met. Which
/// states those are it knows as a range of versions, in which most readers fall, so that they need not ask.
///
/// Each reader keeps the binding that it used last, so that threads which read at once share nothing that is
/// counted or locked, as long as nobody commits.
final class CatalogCache: Sendable {
  private struct State {
    var models: [StoredName: StoredModel] = [:]
    /// The bindings hold their declared schemas, so that the identities stay theirs.
    var bindings: [ObjectIdentifier: ModelBinding] = [:]
    /// The one that was asked for last, which is often asked for again.
    var latest: ModelBinding?
    var generation: UInt64 = 0
    /// The oldest and the newest state known to be of that generation.
    var versions: ClosedRange<Int>?
  }

  private static let bindingLimit = 512

  private let state = Lock(State())

  /// The binding of a declared schema that was met before, where the cache speaks for a version of the store.
  func binding(_ schema: ModelSchema, version: Int) -> ModelBinding? {
    let identity = schema.identity
    return state.withLock { state in
      guard let versions = state.versions, versions.contains(version) else { return nil }
      if let latest = state.latest, latest.declared.identity == identity { return latest }
      guard let found = state.bindings[identity] else { return nil }
      state.latest = found
      return found
    }
  }

  /// The binding of a declared schema that was met before, as the reader's own, where the cache speaks for what it
  /// sees.
  func binding(_ schema: ModelSchema, for reader: any ByteReader) -> ModelBinding? {
    let (workspace, version) = (reader.workspace, reader.version)
    let own = workspace.binding.flatMap { $0.declared.identity == schema.identity ? $0 : nil }
    if let own, workspace.bindingVersion == version { return own }
    guard let shared = binding(schema, version: version) else { return nil }
    workspace.bindingVersion = version
    // A model that was dropped and made anew may be made of the very same schema, under another number.
    if let own, own.model.number == shared.model.number,
      own.model.schema.identity == shared.model.schema.identity, own.model.indexing == shared.model.indexing
    {
      return own
    }
    let copy = ModelBinding(shared.model, declared: shared.declared)
    workspace.binding = copy
    return copy
  }

  /// Learns of which generation a version of the store is.
  ///
  /// - Returns: Whether the cache speaks for it: not where it is of an earlier generation.
  func note(_ version: Int, isOf generation: UInt64) -> Bool {
    state.withLock { state in
      guard generation >= state.generation else { return false }
      if generation > state.generation {
        state = State(generation: generation, versions: version...version)
      } else if let known = state.versions {
        state.versions = min(known.lowerBound, version)...max(known.upperBound, version)
      } else {
        state.versions = version...version
      }
      return true
    }
  }

  /// Learns that a version was made from the one before it within its generation.
  func noteSuccessor(of version: Int) {
    state.withLock { state in
      guard let known = state.versions, known.contains(version) else { return }
      state.versions = known.lowerBound...max(known.upperBound, version + 1)
    }
  }

  /// A model of the cache's generation.
  func model(_ name: StoredName) -> StoredModel? { state.withLock { $0.models[name] } }

  /// Keeps models, unless the cache has met a later generation than theirs.
  func adopt(_ models: [StoredModel], of generation: UInt64) {
    state.withLock { state in
      guard state.generation == generation else { return }
      for model in models { state.models[StoredName(model.schema.name)] = model }
    }
  }

  /// Keeps a binding, unless the cache has met a later generation than its model's.
  func adopt(_ binding: ModelBinding, of generation: UInt64) {
    state.withLock { state in
      guard state.generation == generation else { return }
      if state.bindings.count >= Self.bindingLimit { state.bindings.removeAll() }
      state.bindings[binding.declared.identity] = binding
    }
  }
}
