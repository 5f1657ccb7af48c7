/// The result of a comparison of two stores.
public struct ComparisonReport: Sendable, Hashable, Codable {
  /// The stores that have a model.
  public enum Presence: String, Sendable, Hashable, Codable {
    /// Only the left store.
    case onlyLeft = "-"
    /// Only the right store.
    case onlyRight = "+"
    /// Both stores.
    case both = "="
  }

  /// One store's records of a model.
  public struct Side: Sendable, Hashable, Codable {
    /// The number of records.
    public var count: Int
    /// The digest of the records.
    public var digest: ContentDigest
  }

  /// The result for one model.
  public struct Model: Sendable, Hashable, Codable {
    /// The model's name.
    public var name: String
    /// The stores that have the model.
    public var presence: Presence
    /// The differences between the schemas, one per line, if both stores have the model.
    public var schemaDifferences: [String] = []
    /// The left store's records; nil if it lacks the model.
    public var left: Side?
    /// The right store's records; nil if it lacks the model.
    public var right: Side?
    /// The number of equal records.
    public var unchanged = 0
    /// The number of records that exist only in the left store.
    public var onlyLeft = 0
    /// The number of records that exist only in the right store.
    public var onlyRight = 0
    /// The number of records with different values.
    public var changed = 0
    /// Whether records were compared by key; false if the primary keys differ.
    public var isComparedByKey = false
    /// The first differences, up to the requested limit.
    public var differences: [RecordDifference] = []

    /// Whether the right store has all fields of the left one, with the same kinds.
    public var hasAllFields = false

    /// Whether the right store holds every record of the left one; it may hold more.
    public var isContained: Bool {
      presence == .onlyRight
        || (presence == .both && hasAllFields && onlyLeft == 0 && changed == 0
          && (isComparedByKey || left == right))
    }

    /// Whether both stores have the model with equal schemas and equal records.
    public var isEqual: Bool {
      presence == .both && schemaDifferences.isEmpty && left == right && onlyLeft == 0 && onlyRight == 0
        && changed == 0
    }

    /// The number of differing records.
    public var differenceCount: Int { onlyLeft + onlyRight + changed }
  }

  /// The results by model, sorted by the bytes of the models' names.
  public var models: [Model]

  /// Whether the right store holds every record of the left one; it may hold more.
  public var isContained: Bool { models.allSatisfy(\.isContained) }

  /// Whether the stores are equal.
  public var isEqual: Bool { models.allSatisfy(\.isEqual) }
}
