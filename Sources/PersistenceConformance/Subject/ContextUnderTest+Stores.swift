package import PersistenceCore

/// The stores of a check, and the folder that they are in.
extension ContextUnderTest {
  package func makeStore(on medium: ScratchFolder.Medium = .fast) throws -> StoreUnderTest {
    StoreUnderTest(self, folder: try requireScratch().make(name, on: medium))
  }

  func makeRepository<Record: PersistentRecord>(
    with records: some Sequence<Record>, _ options: OpeningOptions = OpeningOptions()
  ) throws -> Repository {
    let repository = try makeStore().open(options)
    try repository.save(contentsOf: records)
    return repository
  }

  /// The folder of the running check.
  func requireScratch() throws -> ScratchFolder { try scratch ?? ScratchFolder(in: folder) }

  package func capabilities() throws -> Capabilities {
    try knownCapabilities.value {
      try withScratch { context in
        let context = try context.makeStore().open().storage
        defer { try? context.close() }
        return context.capabilities
      }
    }
  }

  /// Gives the context a folder for its stores during a closure, and removes it afterwards.
  package func withScratch<Result>(_ body: (ContextUnderTest) throws -> Result) throws -> Result {
    let scratch = try ScratchFolder(in: folder)
    defer { scratch.remove() }
    return try body(standing(in: scratch))
  }
}
