import Foundation
import PersistenceCore
import PersistenceDriver

/// The layers of a store: the one that decides, and those below that hold a part of it.
final class LayerCore<Object: PersistentRecord>: Sendable {
  /// The layer that decides: the remote one, or the next where there is none.
  let top: DataSourceLayer
  let topStore: AnyDataSource<Object>
  /// The layers below it, the nearest to it first.
  let below: [(layer: DataSourceLayer, holder: any ReplicaLayer<Object>)]
  let options: LayerOptions<Object>
  /// The local layer and its outbox, where writes begin there.
  let outbox: Outbox<Object>?
  let writes = WriteLog()
  let gates = KeyGates()
  /// The cache that answers at once.
  let cache: CacheDataSource<Object>?

  init(
    cache: (any DataSource<Object>)?, local: (any DataSource<Object>)?, remote: (any DataSource<Object>)?,
    options: LayerOptions<Object>
  ) throws(PersistenceError) {
    var stores: [(layer: DataSourceLayer, store: AnyDataSource<Object>)] = []
    for case (let layer, let store?) in [(DataSourceLayer.remote, remote), (.local, local), (.cache, cache)] {
      stores.append((layer, AnyDataSource(store)))
    }
    guard let first = stores.first else {
      throw PersistenceError.invalidRequest("a layered store needs a store in at least one of its places")
    }
    (top, topStore) = first
    self.options = options
    var below: [(layer: DataSourceLayer, holder: any ReplicaLayer<Object>)] = []
    var journaled: JournaledLayer<Object>?
    var cacheStore: CacheDataSource<Object>?
    for (layer, store) in stores.dropFirst() {
      if let cache = store.base as? CacheDataSource<Object> {
        below.append((layer, cache))
        if layer == .cache { cacheStore = cache }
      } else if let repository = store.base as? RepositoryDataSource<Object>, layer == .local {
        let holder = JournaledLayer(repository)
        journaled = holder
        below.append((layer, holder))
      } else {
        below.append((layer, VolatileLayer(store)))
      }
    }
    self.below = below
    self.cache = cacheStore
    guard options.writes == .localFirst, top == .remote else {
      outbox = nil
      return
    }
    guard let journaled else {
      throw PersistenceError.unsupported(
        "write the local store first, since it has to keep the outbox in the same transactions: use a RepositoryDataSource "
          + "as the local store", by: "a layered store over these layers")
    }
    outbox = Outbox(
      writes: LocalWrites(
        journaled, others: below.filter { $0.layer != .local }, remote: first.store, options: options,
        log: writes, gates: gates))
  }

  func attempts(_ layer: DataSourceLayer) -> Attempts {
    Attempts(layer: layer, limits: options.limits(of: layer), clock: options.clock)
  }

  func holder(_ layer: DataSourceLayer) -> (any ReplicaLayer<Object>)? {
    below.first { $0.layer == layer }?.holder
  }

  /// How long ago something was known; nil for a moment that has not come yet, as after a clock was set back.
  func age(of date: Date?) -> Duration? {
    guard let date else { return nil }
    let seconds = options.now().timeIntervalSince(date)
    return seconds < 0 ? nil : .seconds(seconds)
  }
}
