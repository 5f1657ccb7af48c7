import PersistenceDriver

/// The models of a store that have been met, so that a request costs no look at the catalog.
///
/// Models are only ever added to a catalog, so what was read once stays true for every later state; in an
/// earlier one such a model simply has no records.
final class CatalogCache: Sendable {
  private struct State {
    var models: [StoredName: StoredModel] = [:]
    /// The bindings hold their declared schemas, so that the identities stay theirs.
    var bindings: [ObjectIdentifier: ModelBinding] = [:]
    /// The one that was asked for last, which is often asked for again.
    var latest: ModelBinding?
  }

  private static let bindingLimit = 512

  private let state = Lock(State())

  /// The binding of a declared schema that was met before.
  func binding(_ schema: ModelSchema) -> ModelBinding? {
    let identity = schema.identity
    return state.withLock { state in
      if let latest = state.latest, latest.declared.identity == identity { return latest }
      guard let found = state.bindings[identity] else { return nil }
      state.latest = found
      return found
    }
  }

  func model(_ name: StoredName) -> StoredModel? { state.withLock { $0.models[name] } }

  func adopt(_ models: [StoredModel]) {
    state.withLock { state in for model in models { state.models[StoredName(model.schema.name)] = model } }
  }

  func adopt(_ binding: ModelBinding) {
    state.withLock { state in
      if state.bindings.count >= Self.bindingLimit { state.bindings.removeAll() }
      state.bindings[binding.declared.identity] = binding
    }
  }
}
