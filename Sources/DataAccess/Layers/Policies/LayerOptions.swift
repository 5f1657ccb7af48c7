public import Foundation
public import PersistenceCore

/// How a ``LayeredDataSource`` reads, writes and waits.
public struct LayerOptions<Object: PersistentRecord>: Sendable {
  /// How reads choose among layers that do not name a strategy themselves.
  public var strategy = RetrievalStrategy.upToDateWithFallback

  /// Which layer is written first.
  public var writes = WritePolicy.remoteFirst

  /// What becomes of writes of the outbox that conflict with the remote store.
  public var conflicts = ConflictPolicy<Object>.setAside

  /// Whether the methods of ``DataSource``, which cannot say that an answer is not complete, give such an answer where there
  /// is no better one; otherwise they throw what kept the better ones away.
  public var acceptsIncompleteAnswers = false

  /// The limits of the cache.
  public var cache = LayerLimits()

  /// The limits of the local store.
  public var local = LayerLimits()

  /// The limits of the remote store.
  public var remote = LayerLimits(timeout: .seconds(30), retry: RetryPolicy())

  /// When the outbox tries again; its number of attempts counts for errors that are not known to pass: an entry that met
  /// so many of them is set aside.
  public var outbox = RetryPolicy(attempts: 10, firstDelay: .seconds(1), longestDelay: .seconds(300))

  /// What waiting is measured on.
  public var clock: any Clock<Duration> = ContinuousClock()

  /// Tells the time, for ages.
  public var now: @Sendable () -> Date = { Date() }

  /// Options as they are by default.
  public init() {}

  func limits(of layer: DataSourceLayer) -> LayerLimits {
    switch layer {
    case .cache: cache
    case .local: local
    case .remote: remote
    }
  }
}
