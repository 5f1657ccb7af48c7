import PersistenceDriver

extension Capabilities {
  /// The capabilities of LMDB.
  ///
  /// Keys have no limit: long ones are cut and looked up by digest.
  static func lmdb(isReadOnly: Bool, largestStore: Int) -> Capabilities {
    Capabilities(
      isDurable: true, isMultiProcess: true, hasFiles: true, isReadOnly: isReadOnly, datePrecision: .exact,
      largestKey: nil, largestValue: Int(UInt32.max) - (1 << 20), largestStore: largestStore,
      evaluatesPredicates: true, hasSecondaryIndexes: true, dropsModels: true, reportsCommits: true,
      noticesOutsideCommits: true, mapsFiles: true, writesInParallel: false, replays: false)
  }
}
