package import PersistenceDriver

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
package struct IndexCheck {
  /// The names of the index's fields.
  package let fields: String
  /// The positions of the fields of the index and of the key.
  private let positions: [Int]
  private let selected: [Int]
  private let request: FetchRequest

  /// The indexes of a model that the engine reads for an ordered request.
  package static func all(of schema: ModelSchema, in reader: any StorageReader) throws -> [IndexCheck] {
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
  package func hash(of row: borrowing Row) -> UInt64 { Self.hash(of: row, positions) }

  /// The sum of the hashes of all index entries; a closure that throws ends the scan.
  package func sum(in reader: any StorageReader, beforePage: () throws -> Void = {}) throws -> UInt64 {
    let results = try reader.fetch(request, selecting: positions)
    var (sum, done) = (UInt64(0), 0)
    while true {
      try beforePage()
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
