import PersistenceDriver

/// One index that is checked against the records: read in its own order, for nothing but what it holds.
///
/// What the index and the records hold is compared by the sum of a number for each record, made by the hash function
/// that the standard library seeds for each process: quick, and good enough for accidents, since both sides are read in
/// one process.
struct IndexCheck {
  /// The names of the index's fields.
  let fields: String
  /// The positions of the fields of the index and of the key.
  private let positions: [Int]
  private let selected: [Int]
  private let request: FetchRequest

  /// The indexes of a model that an engine answers from.
  static func all(of schema: ModelSchema, in reader: any StorageReader) throws -> [IndexCheck] {
    try schema.indexes.compactMap { index in
      let request = try FetchRequest(schema, order: index.fields.map { FieldOrder($0) })
      let indexed = index.fields.compactMap { schema.position(of: $0) }
      let positions = indexed + schema.keyPositions.filter { !indexed.contains($0) }
      // Where records are sorted instead, no index would be looked at.
      let plan = try reader.plan(for: request, selecting: positions)
      guard plan.ordering != .sorted else { return nil }
      return IndexCheck(
        fields: index.fields.joined(separator: ", "), positions: positions,
        selected: Array(positions.indices), request: request)
    }
  }

  /// What a record counts for.
  func number(of row: borrowing Row) -> UInt64 { Self.number(of: row, positions) }

  /// The sum over what the index holds.
  func sum(in reader: any StorageReader) throws -> UInt64 {
    let results = try reader.fetch(request, selecting: positions)
    var (sum, done) = (UInt64(0), 0)
    while true {
      let read = try results.read(from: done, limit: 1000) { sum &+= Self.number(of: $0, selected) }
      done += read
      if read < 1000 { return sum }
    }
  }

  private static func number(of row: borrowing Row, _ positions: [Int]) -> UInt64 {
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
