/// What comparing two stores found.
public struct ComparisonReport: Sendable, Hashable, Codable {
  /// Where a model is.
  public enum Presence: String, Sendable, Hashable, Codable {
    /// In the left store only.
    case onlyLeft = "-"
    /// In the right store only.
    case onlyRight = "+"
    /// In both.
    case both = "="
  }

  /// What one side holds of a model.
  public struct Side: Sendable, Hashable, Codable {
    /// How many records there are.
    public var count: Int
    /// Their digest.
    public var digest: ContentDigest
  }

  /// What comparing one model found.
  public struct Model: Sendable, Hashable, Codable {
    /// The model's name.
    public var name: String
    /// Where it is.
    public var presence: Presence
    /// How the schemas differ, line by line, where the model is in both.
    public var schemaDifferences: [String] = []
    /// What the left store holds; nil where the model is not there.
    public var left: Side?
    /// What the right store holds; nil where the model is not there.
    public var right: Side?
    /// How many records are alike in both.
    public var unchanged = 0
    /// How many records are in the left store only.
    public var onlyLeft = 0
    /// How many records are in the right store only.
    public var onlyRight = 0
    /// How many records are in both, with other values.
    public var changed = 0
    /// Whether records could be told apart by key: not where the two primary keys differ.
    public var isComparedByKey = false
    /// The first differences, no more than were asked for.
    public var differences: [RecordDifference] = []

    /// Whether the right store has all of the left one's fields, of the same kinds.
    public var hasAllFields = false

    /// Whether the right store holds all that the left one does; it may hold more.
    public var isContained: Bool {
      presence == .onlyRight
        || (presence == .both && hasAllFields && onlyLeft == 0 && changed == 0
          && (isComparedByKey || left == right))
    }

    /// Whether the model is in both stores, declared alike, with the same records.
    public var isEqual: Bool {
      presence == .both && schemaDifferences.isEmpty && left == right && onlyLeft == 0 && onlyRight == 0
        && changed == 0
    }

    /// How many records differ.
    public var differenceCount: Int { onlyLeft + onlyRight + changed }
  }

  /// The models of both stores, in the order of their names' bytes.
  public var models: [Model]

  /// Whether the right store holds all that the left one does; it may hold more.
  public var isContained: Bool { models.allSatisfy(\.isContained) }

  /// Whether the two stores hold the same.
  public var isEqual: Bool { models.allSatisfy(\.isEqual) }
}
