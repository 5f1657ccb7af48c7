/// Which layers of a ``LayeredDataSource`` are asked, and whose answer counts.
public enum RetrievalStrategy: Sendable, Hashable, Codable, CaseIterable {
  /// All layers are asked side by side; the first good answer counts, and the others are cancelled.
  ///
  /// An answer is good where the layer holds all of what was asked for, is not in doubt, and is as young as the layer's
  /// limits ask for.
  case fastestAvailable

  /// The remote store is asked; only where it cannot answer, the local one or the cache does. Its answer refreshes what
  /// lies below.
  case upToDateWithFallback

  /// All layers are asked side by side, and each answer that is better than the one before counts, in turn.
  ///
  /// What asks for one answer only, as the methods of ``DataSource`` do, gets the last and best.
  case returnMultipleTimes
}
