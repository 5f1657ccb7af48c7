import PersistenceDriver

extension Capabilities {
  /// The capabilities of a SQLite store.
  ///
  /// - Parameters:
  ///   - isReadOnly: Whether the store is read-only.
  ///   - journal: The file's journal mode.
  ///   - largestValue: SQLite's limit, in bytes, for a text or blob, and for a whole record.
  /// - Returns: The capabilities.
  static func sqlite(isReadOnly: Bool, journal: SQLiteConfiguration.Journal, largestValue: Int) -> Self {
    Capabilities(
      isDurable: true, isMultiProcess: true, hasFiles: true, isReadOnly: isReadOnly,
      readersBlockWriters: journal == .delete, datePrecision: .exact, largestKey: largestValue,
      largestValue: largestValue, evaluatesPredicates: true, hasSecondaryIndexes: true,
      dropsModels: true, reportsCommits: true, noticesOutsideCommits: true)
  }
}
