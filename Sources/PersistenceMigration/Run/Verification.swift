import PersistenceDriver

/// The checking of a model that has been copied.
struct Verification {
  let migration: Migration
  let route: ModelRoute

  private var location: String { migration.destination.location }
  private var schema: ModelSchema { route.destination }

  /// Checks as far as the options ask for it.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/verificationFailed``.
  func run(_ entry: LedgerEntry, _ progress: (MigrationProgress) throws -> Void) throws {
    guard migration.options.verification != .none else { return }
    let snapshot = try migration.destination.snapshot()
    let count = try snapshot.count(try FetchRequest(schema))
    guard count == entry.now.count else {
      throw failed("\(entry.now.count) records should be there, \(count) are")
    }
    guard let expected = entry.now.digest else { return }
    let indexes = try IndexCheck.all(of: schema, in: snapshot)
    var sums = indexes.map { _ in UInt64(0) }
    let content = try StoreContent.read(
      schema, of: snapshot, total: count, phase: .verifying,
      also: { row in
        for (number, index) in indexes.enumerated() { sums[number] &+= index.number(of: row) }
      }, progress)
    guard content.count == count, content.digest == expected else {
      throw failed("the digest of its records should be \(expected) and is \(content.digest)")
    }
    for (index, sum) in zip(indexes, sums) {
      try progress(MigrationProgress(phase: .indexing, model: schema.name, done: 0, total: count))
      guard try index.sum(in: snapshot) == sum else {
        throw failed("the index over \(index.fields) does not hold what the records hold")
      }
    }
  }

  private func failed(_ reason: String) -> PersistenceError {
    .verificationFailed(schema.name, reason, location: location)
  }
}
