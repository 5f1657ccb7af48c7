import PersistenceDriver

extension Capabilities {
  /// The capabilities of a SQLite store.
  static func sqlite(
    isReadOnly: Bool, journal: SQLiteConfiguration.Journal, largestValue: Int, hasChecksums: Bool
  ) -> Self {
    Capabilities(
      isDurable: true, isMultiProcess: true, hasFiles: true, isReadOnly: isReadOnly,
      readersBlockWriters: journal == .delete, datePrecision: .exact, largestKey: largestValue,
      largestValue: largestValue, evaluatesPredicates: true, hasSecondaryIndexes: true,
      dropsModels: true, reportsCommits: true, noticesOutsideCommits: true,
      detectsDamage: hasChecksums, writesInParallel: false, replays: false)
  }
}
