public import PersistenceDriver

/// What a migration would do, found out by reading all of the source and writing nothing.
public struct MigrationPlan: Sendable, Hashable, Codable {
  /// What becomes of one field.
  public struct Field: Sendable, Hashable, Codable {
    /// The field in the source.
    public var name: String
    /// What it holds in the source, such as `int64?`.
    public var kind: String
    /// Its name in the destination; nil where it is left out.
    public var destinationName: String?
    /// What it holds in the destination; nil where it is left out.
    public var destinationKind: String?
    /// Whether it is in the primary key.
    public var isKey: Bool
    /// The rules about it, as people write them.
    public var rules: [String]
  }

  /// What becomes of one model.
  public struct Model: Sendable, Hashable, Codable {
    /// The model's name in the source.
    public var name: String
    /// Its name in the destination.
    public var destinationName: String
    /// How many records it has, those included that cannot be read.
    public var records: Int
    /// How many bytes their values take, roughly.
    public var bytes: Int
    /// What becomes of its fields.
    public var fields: [Field]
    /// The indexes that the destination cannot have.
    public var droppedIndexes: [IndexSchema]
    /// What the destination cannot hold as it is.
    public var losses: [MigrationLoss]
    /// How many records the destination holds under that name.
    public var present: Int
  }

  /// What it takes, and how that was found out.
  public struct Estimate: Sendable, Hashable, Codable {
    /// How many bytes the destination will take.
    public var bytes: Int
    /// How many bytes are free where it will be; nil where that is not known.
    public var free: Int?
    /// How many seconds the migration will take; nil where that is not known.
    public var seconds: Double?
    /// How both were found out, in words.
    public var basis: String

    /// Makes an estimate.
    ///
    /// - Parameters:
    ///   - bytes: How many bytes the destination will take.
    ///   - free: How many bytes are free where it will be.
    ///   - seconds: How many seconds the migration will take.
    ///   - basis: How both were found out, in words.
    public init(bytes: Int, free: Int?, seconds: Double?, basis: String) {
      self.bytes = bytes
      self.free = free
      self.seconds = seconds
      self.basis = basis
    }

    /// Whether there is less room than is needed.
    public var isTooLarge: Bool { free.map { $0 < bytes } ?? false }
  }

  /// The models, in the order of their names' bytes.
  public var models: [Model]
  /// What the source has beside its models, and what they do not say.
  public var unmappedObjects: [UnmappedObject]
  /// What it takes.
  public var estimate: Estimate
  /// Whether an interrupted migration has begun to fill the destination.
  public var isInterrupted = false

  /// How many records there are, of all models.
  public var records: Int { models.reduce(0) { $0 + $1.records } }

  /// How many bytes their values take, roughly.
  public var bytes: Int { models.reduce(0) { $0 + $1.bytes } }

  /// What the destination cannot hold as it is, of all models.
  public var losses: [MigrationLoss] { models.flatMap(\.losses) }

  /// Whether something would be lost: values that would be changed, or records that the source cannot give.
  ///
  /// Records that cannot be carried over at all are no loss that could be allowed: they stop the migration, or are put
  /// aside where ``MigrationOptions/failures`` says so.
  public var isLossy: Bool {
    losses.contains { $0.isChange } || unmappedObjects.contains(where: \.losesRecords)
  }

  /// Makes sure that nothing is lost that may not be.
  ///
  /// - Parameter options: Whether values may be changed.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/lossyMigration``, saying what would be lost.
  public func requirePermission(by options: MigrationOptions) throws {
    try Self.requirePermission(losses: losses, unmappedObjects: unmappedObjects, by: options)
  }

  static func requirePermission(
    losses: [MigrationLoss], unmappedObjects: [UnmappedObject], by options: MigrationOptions
  ) throws {
    guard !options.allowLossy else { return }
    var lines = losses.filter(\.isChange).map { "\($0)" }
    lines += unmappedObjects.filter(\.losesRecords).map {
      "the \($0.kind.rawValue) “\($0.name)”: \($0.detail)"
    }
    guard !lines.isEmpty else { return }
    throw PersistenceError(
      .lossyMigration,
      "the destination cannot hold everything as it is: \(lines.joined(separator: "; ")); nothing was written: map "
        + "the fields otherwise, or allow it (--allow-lossy; in code: MigrationOptions.allowLossy)")
  }
}

/// Values of one field that a destination cannot hold as they are, or records that cannot be carried over.
public struct MigrationLoss: Sendable, Hashable, Codable {
  /// What is wrong with them.
  public enum Cause: String, Sendable, Hashable, Codable, CaseIterable {
    /// The value has more digits than its new kind or the destination keeps.
    case precision
    /// The value has no counterpart in its new kind; its record cannot be carried over.
    case noCounterpart
    /// The key is longer than the destination's keys; its record cannot be carried over.
    case keyTooLong
    /// The value is longer than the destination's values; its record cannot be carried over.
    case valueTooLarge
    /// The record cannot be read.
    case unreadable
  }

  /// One value for an example.
  public struct Example: Sendable, Hashable, Codable {
    /// The record's key, where it could be read.
    public var key: RecordKey?
    /// What is wrong with it, in words.
    public var detail: String
  }

  /// The model's name in the source.
  public var model: String
  /// The field's name in the source; nil where it is about whole records.
  public var field: String?
  /// What is wrong.
  public var cause: Cause
  /// How many values there are.
  public var count: Int
  /// The first of them.
  public var examples: [Example]

  /// Whether the values would be carried over changed, where that is allowed.
  public var isChange: Bool { cause == .precision }
}

extension MigrationLoss: CustomStringConvertible {
  /// The loss in one line.
  public var description: String {
    let place = model + (field.map { ".\($0)" } ?? "")
    let example = examples.first.map {
      " (such as \($0.key.map { "\($0)" } ?? "a record without key"): \($0.detail))"
    }
    let noun = count == 1 ? "value" : "values"
    let what =
      switch cause {
      case .precision: "\(count) \(noun) would lose digits"
      case .noCounterpart: "\(count) \(noun) \(count == 1 ? "has" : "have") no counterpart"
      case .keyTooLong: "\(count) key\(count == 1 ? " is" : "s are") too long"
      case .valueTooLarge: "\(count) \(noun) \(count == 1 ? "is" : "are") too large"
      case .unreadable: "\(count) record\(count == 1 ? "" : "s") cannot be read"
      }
    return "\(place): \(what)\(example ?? "")"
  }
}
