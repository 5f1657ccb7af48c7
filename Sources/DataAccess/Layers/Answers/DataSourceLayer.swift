/// One of the places of a ``LayeredDataSource``.
public enum DataSourceLayer: String, Sendable, Hashable, Codable, CaseIterable {
  /// The nearest: in memory, and lost at any time.
  case cache
  /// On this device; answers without a network, after a restart too.
  case local
  /// Where the truth is, as others see and change it.
  case remote
}
