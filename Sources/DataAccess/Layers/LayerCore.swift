import Foundation
import PersistenceCore
import PersistenceDriver

/// The top layer of a layered data source, and the replicas that hold a part of it.
final class LayerCore<Object: PersistentRecord>: Sendable {
  /// The authoritative layer: the remote one, or else the next.
  let top: DataSourceLayer
  let topSource: AnyDataSource<Object>
  /// The replicas, nearest to the top layer first.
  let replicas: [(layer: DataSourceLayer, replica: any ReplicaLayer<Object>)]
  let options: LayerOptions<Object>
  /// The local layer and its outbox, if writes start there.
  let outbox: Outbox<Object>?
  let writes = WriteLog()
  /// Stops reads of the top layer after it was out of reach.
  let breaker: CircuitBreaker
  let mutexes = KeyedMutex()
  /// The date for ages.
  let dates: SteadyDate
  /// The local layer, if it is a repository.
  let local: RepositoryDataSource<Object>?
  /// The cache that answers without suspending.
  let cache: CacheDataSource<Object>?

  init(
    cache: (any DataSource<Object>)?, local: (any DataSource<Object>)?, remote: (any DataSource<Object>)?,
    options: LayerOptions<Object>
  ) throws(PersistenceError) {
    var sources: [(layer: DataSourceLayer, source: AnyDataSource<Object>)] = []
    for case (let layer, let source?) in [(DataSourceLayer.remote, remote), (.local, local), (.cache, cache)]
    {
      sources.append((layer, AnyDataSource(source)))
    }
    guard let first = sources.first else {
      throw PersistenceError.invalidRequest("a layered data source needs at least one layer")
    }
    (top, topSource) = first
    breaker = CircuitBreaker(first.layer, pause: options.limits(of: first.layer).pause)
    self.options = options
    self.local = local.flatMap { AnyDataSource($0).base as? RepositoryDataSource<Object> }
    let dates = SteadyDate(options.clock, date: options.now)
    self.dates = dates
    var replicas: [(layer: DataSourceLayer, replica: any ReplicaLayer<Object>)] = []
    var journaled: JournaledLayer<Object>?
    var cacheLayer: CacheDataSource<Object>?
    for (layer, source) in sources.dropFirst() {
      if let cache = source.base as? CacheDataSource<Object> {
        replicas.append((layer, cache))
        if layer == .cache { cacheLayer = cache }
      } else if let repository = source.base as? RepositoryDataSource<Object>, layer == .local {
        let replica = JournaledLayer(repository, dates)
        journaled = replica
        replicas.append((layer, replica))
      } else if let repository = source.base as? RepositoryDataSource<Object> {
        replicas.append((layer, VolatileLayer(AnyDataSource(repository.mirror))))
      } else {
        replicas.append((layer, VolatileLayer(source)))
      }
    }
    self.replicas = replicas
    self.cache = cacheLayer
    guard options.writes == .localFirst, top == .remote else {
      outbox = nil
      return
    }
    guard let journaled else {
      throw PersistenceError.unsupported(
        "write the local layer first, which must keep the outbox in the same transactions; use a RepositoryDataSource "
          + "as the local layer", by: "a layered data source over these layers")
    }
    outbox = Outbox(
      writes: LocalFirstWriter(
        journaled, others: replicas.filter { $0.layer != .local }, remote: first.source, options: options,
        log: writes, mutexes: mutexes, dates: dates, breaker: breaker))
  }

  func attempts(_ layer: DataSourceLayer) -> Attempts {
    Attempts(layer: layer, limits: options.limits(of: layer), clock: options.clock)
  }

  func replica(_ layer: DataSourceLayer) -> (any ReplicaLayer<Object>)? {
    replicas.first { $0.layer == layer }?.replica
  }

  /// The time since a date; nil for a future date, of which a clock that was set back knows nothing.
  func age(of date: Date?) -> Duration? {
    guard let date else { return nil }
    let seconds = dates.now().timeIntervalSince(date)
    // A stored date may be any: a greater number of seconds would be no duration.
    return seconds >= 0 ? .seconds(min(seconds, 1e12)) : nil
  }
}
