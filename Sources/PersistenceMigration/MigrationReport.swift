/// What a migration did.
public struct MigrationReport: Sendable, Hashable, Codable {
  /// What was done to one model.
  public struct Model: Sendable, Hashable, Codable {
    /// The model's name.
    public var name: String
    /// How many records were copied.
    public var records: Int
    /// How many bytes their values take, roughly.
    public var bytes: Int
    /// How long copying and checking took, in seconds.
    public var seconds: Double
    /// The digest of the records, the same in source and destination; nil where none was asked for.
    public var digest: ContentDigest?
  }

  /// The models, in the order of their names' bytes.
  public var models: [Model]
  /// How the copy was checked.
  public var verification: MigrationOptions.Verification

  /// How many records were copied, of all models.
  public var records: Int { models.reduce(0) { $0 + $1.records } }
}

extension MigrationOptions.Verification {
  /// Whether digests are made.
  var wantsDigest: Bool { self == .digest }
}
