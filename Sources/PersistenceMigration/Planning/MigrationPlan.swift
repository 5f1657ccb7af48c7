public import PersistenceDriver

/// The plan of a migration, from a complete scan of the source.
public struct MigrationPlan: Sendable, Hashable, Codable {
  /// The plan for one field.
  public struct Field: Sendable, Hashable, Codable {
    /// The field's name in the source.
    public var name: String
    /// The field's kind in the source, for example `int64?`.
    public var kind: String
    /// The field's name in the destination; nil if it is dropped.
    public var destinationName: String?
    /// The field's kind in the destination; nil if it is dropped.
    public var destinationKind: String?
    /// Whether the field belongs to the primary key.
    public var isKey: Bool
    /// The mapping rules of the field, in their text form.
    public var rules: [String]
  }

  /// The plan for one model.
  public struct Model: Sendable, Hashable, Codable {
    /// The model's name in the source.
    public var name: String
    /// The model's name in the destination.
    public var destinationName: String
    /// The number of records, including unreadable ones.
    public var records: Int
    /// The approximate size of the values, in bytes.
    public var bytes: Int
    /// The plans for the fields.
    public var fields: [Field]
    /// The indexes that the mapping drops.
    public var droppedIndexes: [IndexSchema]
    /// The values that the destination cannot store exactly.
    public var losses: [MigrationLoss]
    /// The number of the model's records in the destination.
    public var present: Int
  }

  /// The estimated space and time.
  public struct Estimate: Sendable, Hashable, Codable {
    /// The size of the destination, in bytes.
    public var bytes: Int
    /// The free space at the destination, in bytes; nil if unknown.
    public var free: Int?
    /// The duration of the migration, in seconds; nil if unknown.
    public var seconds: Double?
    /// The basis of the estimate, in words.
    public var basis: String

    /// Whether the free space is insufficient.
    public var isTooLarge: Bool { free.map { $0 < bytes } ?? false }
  }

  /// The plans by model, sorted by the bytes of the models' names.
  public var models: [Model]
  /// The objects of the source that models do not express.
  public var unmappedObjects: [UnmappedObject]
  /// The estimated space and time.
  public var estimate: Estimate
  /// Whether the destination holds an unfinished migration.
  public var isInterrupted = false

  /// The number of records of all models.
  public var records: Int { models.reduce(0) { $0 + $1.records } }

  /// The approximate size of all values, in bytes.
  public var bytes: Int { models.reduce(0) { $0 + $1.bytes } }

  /// The losses of all models.
  public var losses: [MigrationLoss] { models.flatMap(\.losses) }

  /// Whether the migration would change values or omit unmapped records.
  ///
  /// Records that cannot be copied at all do not count: they stop the migration or are rejected, depending on
  /// ``MigrationOptions/failures``.
  public var isLossy: Bool {
    losses.contains { $0.isChange } || unmappedObjects.contains(where: \.losesRecords)
  }

  package func requireAllowedLosses(by options: MigrationOptions) throws {
    try Self.requireAllowed(losses, unmappedObjects, by: options)
  }

  static func requireAllowed(
    _ losses: [MigrationLoss], _ unmappedObjects: [UnmappedObject], by options: MigrationOptions
  ) throws {
    guard !options.allowLossy else { return }
    var lines = losses.filter(\.isChange).map { "\($0)" }
    lines += unmappedObjects.filter(\.losesRecords).map {
      "the \($0.kind.rawValue) “\($0.name)”: \($0.detail)"
    }
    guard !lines.isEmpty else { return }
    throw PersistenceError(
      .lossyMigration,
      "the destination cannot store everything exactly: \(lines.joined(separator: "; ")); nothing was written; map "
        + "the fields differently, or allow lossy changes")
  }
}

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
