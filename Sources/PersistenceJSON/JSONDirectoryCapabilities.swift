import PersistenceDriver

extension JSONDirectoryContext {
  static func capabilities(_ configuration: JSONDirectoryConfiguration) -> Capabilities {
    Capabilities(
      isDurable: true, isMultiProcess: true, hasFiles: true, isReadOnly: configuration.isReadOnly,
      evaluatesPredicates: false, hasSecondaryIndexes: true, dropsModels: true, reportsCommits: true,
      noticesOutsideCommits: true, writesInParallel: false, replays: false)
  }
}
