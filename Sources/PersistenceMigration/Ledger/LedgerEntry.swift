import PersistenceDriver

/// The state of one model in the ledger.
///
/// The property names are the stored format.
struct LedgerEntry: Codable {
  /// The last completed step.
  enum State: String, Codable {
    /// Records remain to be copied.
    case copying
    /// All records are copied; indexes are missing.
    case copied
    /// The indexes are built.
    case indexed
  }

  /// A store's records of one model.
  struct Content: Codable, Hashable {
    var count = 0
    var digest: ContentDigest?
  }

  /// The model's name in the source.
  var model: String
  /// The model's schema in the destination.
  var destination: ModelSchema
  /// Whether the migration defined the model, so that a restart may drop it.
  var isOurs: Bool
  var state = State.copying
  /// The key of the last processed record.
  var lastKey: RecordKey?
  /// The number of processed unreadable records after ``lastKey``.
  var failuresBehind = 0
  /// The value of ``lastKey`` before the last transaction.
  var keyBeforeBatch: RecordKey?
  var counts = MigrationCounts()
  var bytes = 0
  /// The digest of the records read, after mapping.
  var read: ContentDigest?
  /// The destination's records before the migration, and now.
  var before = Content()
  var now = Content()

  init(_ mapper: RecordMapper, isOurs: Bool, before: Content) {
    model = mapper.source.name
    destination = mapper.destination
    self.isOurs = isOurs
    self.before = before
    now = before
    read = before.digest.map { _ in ContentDigest() }
  }

  /// The position at which reading continues.
  var position: ReadPosition {
    ReadPosition(key: lastKey, offset: counts.read - failuresBehind, failures: failuresBehind)
  }
}
