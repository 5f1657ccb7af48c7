import PersistenceDriver

/// Compares an index with the records, by a scan of the index in its own order that reads only indexed fields.
///
/// Both sides add up a hash of each record. The standard library's hash function, seeded per process, is fast and
/// detects accidental damage; both scans run in one process.
struct IndexCheck {
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
