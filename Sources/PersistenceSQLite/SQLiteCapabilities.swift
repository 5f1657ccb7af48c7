import PersistenceDriver

extension Capabilities {
  /// What a SQLite store can do.
  ///
  /// - Parameters:
  ///   - isReadOnly: Whether it may only be read.
  ///   - journal: The journal that the file has.
  ///   - largestValue: SQLite's limit, in bytes, of a text or blob, and of a whole record.
  /// - Returns: The statement of capabilities.
  static func sqlite(isReadOnly: Bool, journal: SQLiteConfiguration.Journal, largestValue: Int) -> Self {
    Capabilities(
      isDurable: true, isMultiProcess: true, hasFiles: true, isReadOnly: isReadOnly,
      readersBlockWriters: journal == .delete, datePrecision: .exact, largestKey: largestValue,
      largestValue: largestValue, evaluatesPredicates: true, hasSecondaryIndexes: true,
      dropsModels: true, reportsCommits: true, noticesOutsideCommits: true)
  }
}
