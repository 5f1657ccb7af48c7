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
    var digests = indexes.map { _ in ContentDigest() }
    var digesters = indexes.map(\.digester)
    let content = try StoreContent.read(
      schema, from: snapshot, total: count, phase: .verifying,
      also: { row in
        for index in digesters.indices { digests[index].add(digesters[index].digest(of: row)) }
      }, progress)
    guard content.count == count, content.digest == expected else {
      throw failed("the digest of its records should be \(expected) and is \(content.digest)")
    }
    for (index, digest) in zip(indexes, digests) {
      try progress(MigrationProgress(phase: .indexing, model: schema.name, done: 0, total: count))
      guard try index.digest(in: snapshot) == digest else {
        throw failed("the index over \(index.fields) does not hold what the records hold")
      }
    }
  }

  private func failed(_ reason: String) -> PersistenceError {
    .verificationFailed(schema.name, reason, location: location)
  }
}

/// One index that is checked against the records: read in its own order, for nothing but what it holds.
private struct IndexCheck {
  let fields: String
  let digester: RecordDigester
  private let request: FetchRequest

  /// The indexes of a model that an engine answers from.
  static func all(of schema: ModelSchema, in reader: any StorageReader) throws -> [IndexCheck] {
    try schema.indexes.compactMap { index in
      let request = try FetchRequest(schema, order: index.fields.map { FieldOrder($0) })
      let digester = RecordDigester(
        schema, fields: Set((index.fields + schema.key).map(StoredName.init)))
      // Where records are sorted instead, no index would be looked at.
      let plan = try reader.plan(for: request, selecting: digester.selection)
      guard plan.ordering != .sorted else { return nil }
      return IndexCheck(
        fields: index.fields.joined(separator: ", "), digester: digester, request: request)
    }
  }

  /// The digest of what the index holds.
  func digest(in reader: any StorageReader) throws -> ContentDigest {
    let results = try reader.fetch(request, selecting: digester.selection)
    var (digester, digest, done) = (digester.ofSelection, ContentDigest(), 0)
    while true {
      let read = try results.read(from: done, limit: 1000) { digest.add(digester.digest(of: $0)) }
      done += read
      if read < 1000 { return digest }
    }
  }
}
