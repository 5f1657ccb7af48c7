import PersistenceDriver

extension Capabilities {
  /// The longest key, in bytes as stored: an entry of an index holds 2,704 bytes.
  static let postgresKeyLimit = 2_600

  /// The longest value, and the longest row, in bytes: the server reads no row that exceeds its message size of 1 GiB.
  static let postgresValueLimit = 512 << 20

  /// The capabilities of a store in PostgreSQL.
  static func postgres(isReadOnly: Bool) -> Self {
    Capabilities(
      isDurable: true, isMultiProcess: true, hasFiles: false, isReadOnly: isReadOnly, datePrecision: .exact,
      largestKey: postgresKeyLimit, largestValue: postgresValueLimit, evaluatesPredicates: true,
      hasSecondaryIndexes: true, dropsModels: true, reportsCommits: true, noticesOutsideCommits: true)
  }

  /// The capabilities of a schema of other programs: the server's dates, no removal of tables, and no record of commits by
  /// others.
  static func postgresForeign(isReadOnly: Bool) -> Self {
    var capabilities = postgres(isReadOnly: isReadOnly)
    capabilities.datePrecision = .microseconds
    capabilities.dropsModels = false
    capabilities.noticesOutsideCommits = false
    return capabilities
  }
}
