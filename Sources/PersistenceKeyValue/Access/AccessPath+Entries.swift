import PersistenceDriver

extension AccessPath {
  /// Calls a closure for each entry of the path in the store's order, until it says false.
  func forEach(_ reader: any ByteReader, _ body: (ByteEntry) throws -> Bool) throws {
    let cursor = try reader.takeCursor(in: space)
    defer { reader.giveBack(cursor) }
    for range in ranges {
      var entry = try range.lower.withUnsafeBytes { try cursor.seek($0) }
      while let found = entry {
        if let upper = range.upper, upper.withUnsafeBytes({ TotalOrder.compare(found.key, $0) >= 0 }) {
          break
        }
        guard try body(found) else { return }
        entry = try cursor.next()
      }
    }
  }

  /// How many entries the path has, counted up to a limit.
  func count(_ reader: any ByteReader, limit: Int) throws -> Int {
    guard limit > 0 else { return 0 }
    var count = 0
    try forEach(reader) { _ in
      count += 1
      return count < limit
    }
    return count
  }
}
