public import PersistenceCore

/// What layers answered: a value, where it came from and how old it is.
public struct LayeredAnswer<Value: Sendable>: Sendable {
  /// What was asked for.
  public var value: Value

  /// The layer that answered.
  public var source: DataSourceLayer

  /// How long ago the store that all of it comes from was last known to hold this; zero where that store itself
  /// answered, nil where it is not known.
  public var age: Duration?

  /// Whether the value is all that was asked for; false where the layer holds some of it and does not know the rest,
  /// or cannot be sure of it.
  public var isComplete: Bool

  /// What went wrong on the way: layers that did not answer, or could not be refreshed with this answer.
  public var failures: [LayerFailure]

  /// Makes an answer.
  public init(
    _ value: Value, from source: DataSourceLayer, age: Duration?, isComplete: Bool = true,
    failures: [LayerFailure] = []
  ) {
    self.value = value
    self.source = source
    self.age = age
    self.isComplete = isComplete
    self.failures = failures
  }

  /// The answer with another value.
  func map<Other: Sendable>(_ transform: (Value) -> Other) -> LayeredAnswer<Other> {
    LayeredAnswer<Other>(
      transform(value), from: source, age: age, isComplete: isComplete, failures: failures)
  }
}

/// What kept one layer from doing its part.
public struct LayerFailure: Sendable {
  /// The layer.
  public var layer: DataSourceLayer
  /// What it met.
  public var error: PersistenceError

  /// Names a layer and what it met.
  public init(_ layer: DataSourceLayer, _ error: PersistenceError) {
    self.layer = layer
    self.error = error
  }
}
