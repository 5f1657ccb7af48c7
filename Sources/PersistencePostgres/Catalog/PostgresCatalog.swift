import PersistenceDriver

/// The models of a store, at one version of its catalog.
///
/// A new catalog gets a new version, and a table never gets the name of another one while a reader may still use that.
/// So a reader with an older catalog sees the older version first.
struct PostgresCatalog: Sendable {
  let version: Int64

  /// The encoded layouts of the models; the descriptions of other programs' tables that are models.
  var layouts: [StoredName: String]

  /// The descriptions of other programs' tables and views that are no models.
  var others: [StoredName: String] = [:]

  /// Why no model can represent a table.
  var rejected: [StoredName: PersistenceError] = [:]

  /// Whether writing a record may change others, by triggers and foreign keys.
  var hasSideEffects = false
}

/// A catalog that a session used is no longer the newest one: the work starts again with the newest one.
struct StaleCatalog: Error {}

extension PersistenceError {
  /// The error for a store whose own tables are missing.
  func ofMissingStore(_ location: String) -> PersistenceError {
    guard isPostgres("42P01") || isPostgres("3F000") else { return self }
    var error = self
    error.code = .missingStore
    error.message =
      "the schema contains no store, or another program removed it; open it with create=true to make a new one"
    return error.at(location: location)
  }
}
