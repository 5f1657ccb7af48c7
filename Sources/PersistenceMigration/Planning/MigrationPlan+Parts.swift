public import PersistenceDriver

extension MigrationPlan {
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
}
