/// What happens to a record when the record that it refers to is deleted (contract L2).
public enum DeleteRule: String, Sendable, Hashable, Codable, CaseIterable {
  /// A transaction that leaves a reference to the deleted record does not commit.
  case restrict
  /// The record is deleted too.
  case cascade
  /// The reference becomes nil.
  case setNil
}
