import PersistenceDriver

/// The verification of one model after its records are copied.
struct ModelVerification {
  let migration: Migration
  let schema: ModelSchema

  /// Verifies as much as the options request.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/verificationFailed``.
  func run(_ entry: LedgerEntry, _ progress: (StoreProgress) throws -> Void) throws {
    guard migration.options.verification != .none else { return }
    let snapshot = try migration.destination.snapshot()
    let count = try snapshot.count(try FetchRequest(schema))
    guard count == entry.now.count else {
      throw failure("the destination holds \(count) records, expected \(entry.now.count)")
    }
    guard let expected = entry.now.digest else { return }
    let indexes = try IndexCheck.all(of: schema, in: snapshot)
    var sums = indexes.map { _ in UInt64(0) }
    let content = try ModelContent.read(
      schema, of: snapshot, total: count, phase: .verifying,
      also: { row in
        for (number, index) in indexes.enumerated() { sums[number] &+= index.hash(of: row) }
      }, progress)
    guard content.count == count, content.digest == expected else {
      throw failure("the digest of its records is \(content.digest), expected \(expected)")
    }
    for (index, sum) in zip(indexes, sums) {
      try progress(StoreProgress(phase: .indexing, model: schema.name, done: 0, total: count))
      guard try index.sum(in: snapshot) == sum else {
        throw failure("the index on \(index.fields) differs from the records")
      }
    }
  }

  private func failure(_ reason: String) -> PersistenceError {
    .verificationFailed(schema.name, reason, location: migration.destination.location)
  }
}
