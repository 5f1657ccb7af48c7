import PersistenceDriver

extension Capabilities {
  /// The longest key, in bytes as stored: an entry of an index holds 2,704 bytes.
  static let postgresKeyLimit = 2_600

  /// The longest value, and the longest row, in bytes: the server reads no row that exceeds its message size of 1 GiB.
  static let postgresValueLimit = 512 << 20

  /// The capabilities of a store in PostgreSQL.
  static func postgres(_ configuration: PostgresConfiguration) -> Self {
    Capabilities(
      isDurable: true, isMultiProcess: true, hasFiles: false, isReadOnly: configuration.isReadOnly,
      datePrecision: .exact, largestKey: postgresKeyLimit, largestValue: postgresValueLimit,
      largestRow: postgresValueLimit, evaluatesPredicates: true, hasSecondaryIndexes: true, dropsModels: true,
      reportsCommits: true, noticesOutsideCommits: true, writesInParallel: true, replays: true,
      pins: configuration.pinLimit, pinLimit: configuration.pinTimeout)
  }

  /// The capabilities of a schema of other programs: the server's dates, no removal of tables, no record of commits by
  /// others, and so one writer at a time in this process.
  static func postgresForeign(_ configuration: PostgresConfiguration) -> Self {
    var capabilities = postgres(configuration)
    capabilities.datePrecision = .microseconds
    capabilities.dropsModels = false
    capabilities.noticesOutsideCommits = false
    capabilities.writesInParallel = false
    return capabilities
  }
}
