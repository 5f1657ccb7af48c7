import PersistenceDriver

/// The models of a store, at one version of its catalog.
///
/// A new catalog gets a new version, and a table never gets the name of another one while a reader may still use that.
/// So a reader with an older catalog sees the older version first.
struct PostgresCatalog: Sendable {
  let version: Int64

  /// The encoded layouts of the models.
  let layouts: [StoredName: String]
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
