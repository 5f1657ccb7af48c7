import PersistenceDriver

/// What the ledger knows of one model.
struct LedgerEntry: Codable {
  /// How far the model has come.
  enum State: String, Codable {
    /// Records are being copied, or will be.
    case copying
    /// All records are there.
    case copied
    /// Its indexes are there, too.
    case indexed
  }

  /// What a store holds of a model.
  struct Content: Codable, Hashable {
    var count = 0
    var digest: ContentDigest?
  }

  /// The model's name in the source.
  var model: String
  /// The model as the destination is to have it.
  var destination: ModelSchema
  /// Whether the migration defined it there, so that it is the migration's to remove.
  var isOurs: Bool
  var state = State.copying
  /// The last record that was dealt with.
  var lastKey: RecordKey?
  /// How many records behind it could not be read and have been dealt with.
  var failuresBehind = 0
  /// The last record of the transaction before the last one.
  var keyBeforeBatch: RecordKey?
  var counts = MigrationCounts()
  var bytes = 0
  /// The digest of the records that were read, as the destination is to have them.
  var read: ContentDigest?
  /// What the destination held before the migration.
  var before = Content()
  /// What the destination holds now.
  var now = Content()

  init(_ route: ModelRoute, isOurs: Bool, before: Content) {
    model = route.source.name
    destination = route.destination
    self.isOurs = isOurs
    self.before = before
    now = before
    read = before.digest.map { _ in ContentDigest() }
  }

  /// Where the reading goes on.
  var place: ReadingPlace {
    ReadingPlace(key: lastKey, position: counts.read - failuresBehind, failures: failuresBehind)
  }
}
