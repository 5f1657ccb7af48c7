import PersistenceDriver

extension ReservedModel {
  /// The writes that wait until a remote data source has them.
  static let outbox = "persistence.outbox"
  /// The parts of each model that a local data source holds completely.
  static let coverage = "persistence.layers.coverage"
  /// The keys of records that may be stale.
  static let doubts = "persistence.layers.doubts"
  /// The number of writes of each model by layered data sources.
  static let layers = "persistence.layers"
}
