public import PersistenceCore

/// An operation of a data source.
public enum DataSourceOperation: String, Sendable, Hashable, CaseIterable {
  /// `insert(_:)`.
  case insert
  /// `update(_:)`, with or without a condition.
  case update
  /// `save(_:)`.
  case save
  /// `delete(_:)`.
  case delete
  /// `apply(_:)`.
  case apply
  /// `find(_:)`.
  case find
  /// `execute(_:)`.
  case execute
  /// `count(_:)`.
  case count
  /// One page of `pages(_:size:)`.
  case page
}

/// A call of a ``ScriptedDataSource``.
public struct ScriptedCall: Sendable {
  /// The outcome of a call.
  public enum Outcome: Sendable, Hashable {
    /// The call is in flight.
    case inFlight
    /// The call returned.
    case answered
    /// The call threw an error with a code.
    case failed(PersistenceError.Code)
  }

  /// The operation.
  public let operation: DataSourceOperation

  /// The outcome.
  public internal(set) var outcome = Outcome.inFlight
}
