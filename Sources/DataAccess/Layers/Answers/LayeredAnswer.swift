public import PersistenceCore

/// An answer with its layer and its age.
public struct LayeredAnswer<Value: Sendable>: Sendable {
  /// The value.
  public var value: Value

  /// The layer that answered.
  public var source: DataSourceLayer

  /// The time since the source of the whole value was last known to hold it.
  ///
  /// Zero for an answer of that source itself; nil if unknown.
  public var age: Duration?

  /// Whether the value is complete.
  ///
  /// False if the layer may hold only a part of it.
  public var isComplete: Bool

  /// The layers that did not answer, or that could not be refreshed with this answer.
  public var failures: [LayerFailure]

  /// Creates an answer.
  package init(
    _ value: Value, from source: DataSourceLayer, age: Duration?, isComplete: Bool = true,
    failures: [LayerFailure] = []
  ) {
    self.value = value
    self.source = source
    self.age = age
    self.isComplete = isComplete
    self.failures = failures
  }

  /// The answer with a converted value.
  func map<Other: Sendable>(_ transform: (Value) -> Other) -> LayeredAnswer<Other> {
    LayeredAnswer<Other>(transform(value), from: source, age: age, isComplete: isComplete, failures: failures)
  }
}

/// The failure of one layer.
public struct LayerFailure: Sendable {
  /// The layer.
  public var layer: DataSourceLayer
  /// The error.
  public var error: PersistenceError

  /// Creates a failure.
  package init(_ layer: DataSourceLayer, _ error: PersistenceError) {
    self.layer = layer
    self.error = error
  }
}

/// A layer of a ``LayeredDataSource``.
public enum DataSourceLayer: String, Sendable, Hashable, Codable, CaseIterable {
  /// The nearest layer: volatile, in memory.
  case cache
  /// The layer on this device. It answers offline and after a restart.
  case local
  /// The authoritative layer, which all devices share.
  case remote
}
