import PersistenceDriver
import PersistenceDriverSupport

/// A cache of a store's models, so that a request does not read the catalog.
///
/// A model that was read stays valid in every other version as long as models are only added; in an earlier
/// version it has no records. A drop, a change of schema or an index build ends that. The catalog therefore counts
/// them as its *generation*, and the cache is valid for the newest generation that it has seen. It knows the versions of
/// that generation as a range, so most readers need not read the generation.
///
/// Each reader keeps the binding that it used last. Concurrent readers therefore share no lock or reference
/// count between commits.
final class CatalogCache: Sendable {
  private struct State {
    var models: [StoredName: StoredModel] = [:]
    /// Reserved names of models that the generation lacks; defining one of them begins another generation.
    var absent: [StoredName] = []
    /// The bindings retain their declared schemas, so the identities stay unique.
    var bindings: [ObjectIdentifier: ModelBinding] = [:]
    /// The binding that was requested last, which is often requested again.
    var latest: ModelBinding?
    var generation: UInt64 = 0
    /// The oldest and the newest version known to have that generation.
    var versions: ClosedRange<Int>?
    var tally = WriteTally()
  }

  private static let bindingLimit = 512

  private let state = Lock(State())

  /// The cached binding of a declared schema, if the cache is valid for a version of the store.
  func binding(_ schema: ModelSchema, version: Int) -> ModelBinding? {
    let identity = schema.identity
    return state.withLock { state in
      guard let versions = state.versions, versions.contains(version) else { return nil }
      if let latest = state.latest, latest.identity == identity { return latest }
      guard let found = state.bindings[identity] else { return nil }
      state.latest = found
      return found
    }
  }

  /// The cached binding of a declared schema as a copy for a reader with a workspace, if the cache is valid for its version.
  func binding(_ schema: ModelSchema, for reader: any ByteReader, _ workspace: KeyValueWorkspace)
    -> ModelBinding?
  {
    let version = reader.version
    if workspace.bindingVersion == version, let own = workspace.binding, own.identity == schema.identity {
      return own
    }
    return copiedBinding(schema, version: version, workspace)
  }

  private func copiedBinding(_ schema: ModelSchema, version: Int, _ workspace: KeyValueWorkspace)
    -> ModelBinding?
  {
    guard let shared = binding(schema, version: version) else { return nil }
    workspace.bindingVersion = version
    if let own = workspace.binding, own.isCopy(of: shared) { return own }
    let copy = ModelBinding(shared.model, declared: shared.declared)
    workspace.binding = copy
    return copy
  }

  /// Records the generation of a version; returns false if the cache has a newer one.
  func record(_ version: Int, isOf generation: UInt64) -> Bool {
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

  /// Records that the next version has the same generation, and a number of writes.
  func recordSuccessor(of version: Int, writes: UInt64) {
    state.withLock { state in
      state.tally.add(writes, after: version)
      guard let known = state.versions, known.contains(version) else { return }
      state.versions = known.lowerBound...max(known.upperBound, version + 1)
    }
  }

  /// A version as a moment to count writes from.
  func mark(of version: Int) -> WriteTally.Mark { state.withLock { $0.tally.mark(of: version) } }

  /// The largest number of writes between a mark and a version; nil if it is unknown.
  func writes(since mark: WriteTally.Mark, to version: Int) -> UInt64? {
    state.withLock { $0.tally.writes(since: mark, to: version) }
  }

  /// A cached model, if the cache is still valid for a generation.
  func model(_ name: StoredName, of generation: UInt64) -> StoredModel? {
    state.withLock { $0.generation == generation ? $0.models[name] : nil }
  }

  /// Whether a version of the store is known to lack a model with a reserved name.
  func lacks(_ name: StoredName, version: Int) -> Bool {
    state.withLock { state in
      guard !state.absent.isEmpty, let versions = state.versions, versions.contains(version) else {
        return false
      }
      return state.absent.contains(name)
    }
  }

  /// Records that a generation lacks a model with a reserved name.
  func insert(absent name: StoredName, of generation: UInt64) {
    state.withLock { state in
      if state.generation == generation, !state.absent.contains(name) { state.absent.append(name) }
    }
  }

  /// Caches models unless their generation is stale.
  func insert(_ models: [StoredModel], of generation: UInt64) {
    state.withLock { state in
      guard state.generation == generation else { return }
      for model in models { state.models[StoredName(model.schema.name)] = model }
    }
  }

  /// Caches a binding unless its model's generation is stale.
  func insert(_ binding: ModelBinding, of generation: UInt64) {
    state.withLock { state in
      guard state.generation == generation else { return }
      if state.bindings.count >= Self.bindingLimit { state.bindings.removeAll() }
      state.bindings[binding.identity] = binding
    }
  }
}
