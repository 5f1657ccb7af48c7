public import PersistenceDriver

/// How one record differs between two stores.
public struct RecordDifference: Sendable, Hashable, Codable {
  /// In what way.
  public enum Kind: String, Sendable, Hashable, Codable {
    /// The record is in the left store only.
    case onlyLeft = "-"
    /// The record is in the right store only.
    case onlyRight = "+"
    /// The record is in both, with other values.
    case changed = "*"
  }

  /// One field with other values, shortened to what shows the difference.
  public struct Field: Sendable, Hashable, Codable {
    /// The field's stored name.
    public var name: String
    /// What the left store holds.
    public var left: String
    /// What the right store holds.
    public var right: String
  }

  /// In what way the record differs.
  public var kind: Kind
  /// The record's primary key.
  public var key: RecordKey
  /// The fields with other values, where the record is in both stores.
  public var fields: [Field]
}
