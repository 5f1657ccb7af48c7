import PersistenceDriver

/// What a store's own table tells about it, and where the store is, since a restored copy tells the same.
struct PostgresStoreState {
  let format: Int64
  private let store: [UInt8]
  private let database: String
  /// The number of the server's cluster; nil where the user may not read it.
  var cluster: Int64?
  /// The standby that was opened; nil for a primary server.
  var standby: Int64?

  /// The columns that ``init(_:)`` reads, from the table under the name `state`.
  ///
  /// Later formats keep the first two.
  static let columns = "state.format, state.store, pg_catalog.current_database()"
  static let columnCount = 3

  /// Reads the first row of a result; nil if there is none.
  init?(_ result: PostgresResult) {
    guard result.count > 0, let format = result.integer(0, 0), let store = result.bytes(0, 1),
      let database = result.text(0, 2)
    else { return nil }
    (self.format, self.store, self.database) = (format, Array(store), database)
  }

  /// What contexts of one store have in common.
  ///
  /// A context follows the name of a database, which cannot change while it is connected. A standby shows commits later
  /// than other servers, so its observers have a connection of their own.
  func identity(_ store: PostgresStore) -> String {
    let number = self.store.map { String($0, radix: 16) }.joined(separator: ".")
    let server = [cluster, standby].map { number in number.map { "\($0)" } ?? "" }
    return ([number] + server + [database, store.configuration.schema]).joined(separator: "\0")
  }
}
