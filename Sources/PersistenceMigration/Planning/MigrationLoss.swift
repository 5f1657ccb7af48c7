public import PersistenceDriver

/// Values of one field that the destination cannot store exactly, or records that cannot be copied.
public struct MigrationLoss: Sendable, Hashable, Codable {
  /// The cause of a loss.
  public enum Cause: String, Sendable, Hashable, Codable, CaseIterable {
    /// The value has more digits than its new kind or the destination can store.
    case precision
    /// The value has no counterpart in its new kind; its record cannot be copied.
    case noCounterpart
    /// The key exceeds the destination's maximum; its record cannot be copied.
    case keyTooLong
    /// The value exceeds the destination's maximum; its record cannot be copied.
    case valueTooLarge
    /// The record is unreadable.
    case unreadable
  }

  /// An example of an affected value.
  public struct Example: Sendable, Hashable, Codable {
    /// The record's key; nil if unreadable.
    public var key: RecordKey?
    /// The reason, in words.
    public var detail: String
  }

  /// The model's name in the source.
  public var model: String
  /// The field's name in the source; nil for whole records.
  public var field: String?
  /// The cause.
  public var cause: Cause
  /// The number of affected values.
  public var count: Int
  /// The first affected values.
  public var examples: [Example]

  /// Whether the values can be copied with a change, if the options allow it.
  public var isChange: Bool { cause == .precision }
}

extension MigrationLoss: CustomStringConvertible {
  /// The loss on one line.
  public var description: String {
    let subject = model + (field.map { ".\($0)" } ?? "")
    let example = examples.first.map {
      " (such as \($0.key.map { "\($0)" } ?? "a record without a key"): \($0.detail))"
    }
    let noun = count == 1 ? "value" : "values"
    let problem =
      switch cause {
      case .precision: "\(count) \(noun) would lose digits"
      case .noCounterpart: "\(count) \(noun) \(count == 1 ? "has" : "have") no counterpart"
      case .keyTooLong: "\(count) key\(count == 1 ? " is" : "s are") too long"
      case .valueTooLarge: "\(count) \(noun) \(count == 1 ? "is" : "are") too large"
      case .unreadable: "\(count) record\(count == 1 ? "" : "s") cannot be read"
      }
    return "\(subject): \(problem)\(example ?? "")"
  }
}
