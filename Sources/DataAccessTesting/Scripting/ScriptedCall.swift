public import PersistenceCore

/// What a store can be asked.
public enum DataSourceOperation: String, Sendable, Hashable, CaseIterable {
  /// `insert(_:)`.
  case insert
  /// `update(_:)`, conditional or not.
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

/// One call that a ``ScriptedDataSource`` got.
public struct ScriptedCall: Sendable {
  /// How a call ended.
  public enum Outcome: Sendable, Hashable {
    /// It has not ended yet.
    case underWay
    /// It gave an answer.
    case answered
    /// It threw an error of a code.
    case failed(PersistenceError.Code)
  }

  /// What was asked.
  public let operation: DataSourceOperation

  /// How it ended.
  public internal(set) var outcome = Outcome.underWay
}
