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

/// Compares an index with the records, by a scan of the index in its own order that reads only indexed fields.
///
/// Both sides add up a hash of each record. The standard library's hash function, seeded per process, is fast and
/// detects accidental damage; both scans run in one process.
private struct IndexCheck {
  /// The names of the index's fields.
  let fields: String
  /// The positions of the fields of the index and of the key.
  private let positions: [Int]
  private let selected: [Int]
  private let request: FetchRequest

  /// The indexes of a model that the engine reads for an ordered request.
  static func all(of schema: ModelSchema, in reader: any StorageReader) throws -> [IndexCheck] {
    try schema.indexes.compactMap { index in
      let request = try FetchRequest(schema, order: index.fields.map { FieldOrder($0) })
      let indexed = index.fields.compactMap { schema.position(of: $0) }
      let positions = indexed + schema.keyPositions.filter { !indexed.contains($0) }
      // A plan that sorts does not read the index.
      let plan = try reader.plan(for: request, selecting: positions)
      guard plan.ordering != .sorted else { return nil }
      return IndexCheck(
        fields: index.fields.joined(separator: ", "), positions: positions,
        selected: Array(positions.indices), request: request)
    }
  }

  /// The hash of a whole record's indexed fields.
  func hash(of row: borrowing Row) -> UInt64 { Self.hash(of: row, positions) }

  /// The sum of the hashes of all index entries.
  func sum(in reader: any StorageReader) throws -> UInt64 {
    let results = try reader.fetch(request, selecting: positions)
    var (sum, done) = (UInt64(0), 0)
    while true {
      let read = try results.read(from: done, limit: 1000) { sum &+= Self.hash(of: $0, selected) }
      done += read
      if read < 1000 { return sum }
    }
  }

  private static func hash(of row: borrowing Row, _ positions: [Int]) -> UInt64 {
    var hasher = Hasher()
    for position in positions {
      let cell = row[position]
      hasher.combine(cell.tag.rawValue)
      switch cell.tag {
      case .null: break
      case .bool, .integer: hasher.combine(cell.integerValue)
      case .double, .date: hasher.combine(TotalOrder.normalized(cell.doubleValue).bitPattern)
      case .uuid: hasher.combine(cell.uuidValue)
      case .text, .bytes, .decimal, .document:
        hasher.combine(cell.borrowedBytes.count)
        hasher.combine(bytes: cell.borrowedBytes)
      }
    }
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}

/// The comparison of source and destination, record by record, at the end of a migration.
struct FullVerification {
  private static let differenceLimit = 100

  let migration: Migration
  let mappers: [RecordMapper]
  let snapshot: any StorageSnapshot

  /// Compares, and allows only the differences that the migration itself caused: records that it rejected or skipped,
  /// and records that the destination held before.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/verificationFailed`` that names the first
  ///   difference.
  func run(_ report: MigrationReport, _ progress: (StoreProgress) throws -> Void) throws
    -> ComparisonReport
  {
    let destination = try migration.destination.snapshot()
    var models: [ComparisonReport.Model] = []
    for (mapper, done) in zip(mappers, report.models) {
      let model = try compare(mapper, destination, progress)
      models.append(model)
      let mayDiffer = migration.options.conflicts != .fail
      // A converted key may be the same for two source records; all but one of them are conflicts.
      let collisions = mapper.changesKey ? done.counts.rejected + done.counts.replaced : 0
      guard mayDiffer || (model.onlyRight == 0 && model.changed <= collisions),
        model.changed <= done.counts.skipped + collisions, model.onlyLeft <= done.counts.rejected
      else {
        let first = model.differences.first.map { "\($0)" } ?? "\(model.differenceCount) records differ"
        throw PersistenceError.verificationFailed(
          mapper.destination.name, first, location: migration.destination.location)
      }
    }
    return ComparisonReport(models: models)
  }

  private func compare(
    _ mapper: RecordMapper, _ destination: any StorageSnapshot,
    _ progress: (StoreProgress) throws -> Void
  ) throws -> ComparisonReport.Model {
    let schema = mapper.destination
    let source = MappedReader(mapper, snapshot, skipsRejects: migration.options.failures == .reject)
    if mapper.changesKey {
      return try LookupComparison(
        schema: schema, left: source, right: destination, differenceLimit: Self.differenceLimit
      ).run(progress)
    }
    return try ModelComparison(
      leftSchema: schema, leftReader: source, rightSchema: schema, rightReader: destination,
      differenceLimit: Self.differenceLimit
    ).run(progress)
  }
}
