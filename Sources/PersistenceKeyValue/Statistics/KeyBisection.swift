import PersistenceDriver

/// Takes records from all over a model, by cutting the space of its keys in halves.
///
/// A tree of the store's kind tells neither the rank of a key nor the key of a rank. But it finds the first key
/// after any bytes, and between two keys there are always bytes to ask for: each key that is found that way is a
/// record of the sample and a bound of two halves, of which the widest waiting one is cut next. So what is taken
/// lies evenly in the space of keys, in a number of seeks that is bounded (decision 8).
struct KeyBisection {
  /// From a key that is there, up to but without bytes that need not be one.
  private struct Gap {
    var lower: [UInt8]
    var upper: [UInt8]
  }

  /// - Parameters:
  ///   - prefix: What the keys of the model's records begin with.
  ///   - reader: Where they are.
  ///   - limit: How many records are taken at most.
  ///   - body: Called with each.
  /// - Throws: What the store and the closure throw.
  /// - Complexity: At most three seeks for each record that may be taken.
  static func sample(
    of prefix: [UInt8], _ reader: any ByteReader, limit: Int, _ body: (ByteEntry) throws -> Void
  ) throws {
    guard let end = ByteOrder.next(after: prefix) else { return }
    let cursor = try reader.takeCursor(in: .records)
    defer { reader.giveBack(cursor) }
    func seek(_ key: [UInt8]) throws -> ByteEntry? {
      guard let found = try key.withUnsafeBytes({ try cursor.seek($0) }),
        end.withUnsafeBytes({ TotalOrder.compare(found.key, $0) < 0 })
      else { return nil }
      return found
    }
    guard let first = try seek(prefix) else { return }
    var gaps = [Gap(lower: [UInt8](first.key), upper: end)]
    try body(first)
    // The last record bounds the space that the others lie in.
    let beyond = try end.withUnsafeBytes { try cursor.seek($0) }
    if let last = try beyond == nil ? cursor.last() : cursor.previous(), limit > 1 {
      let key = [UInt8](last.key)
      guard ByteOrder.compare(gaps[0].lower, key) < 0 else { return }
      try body(last)
      gaps[0].upper = key
    }
    var taken = 2
    var seeks = 3
    var next = 0
    while taken < limit, next < gaps.count, seeks < 3 * limit {
      let gap = gaps[next]
      next += 1
      guard let middle = middle(of: gap) else { continue }
      seeks += 1
      guard let found = try seek(middle) else { continue }
      let key = [UInt8](found.key)
      gaps.append(Gap(lower: gap.lower, upper: middle))
      guard ByteOrder.compare(key, gap.upper) < 0 else { continue }
      try body(found)
      taken += 1
      gaps.append(Gap(lower: key, upper: gap.upper))
    }
  }

  /// Bytes half way between the ends, greater than the lower one; nil where there are none short enough to matter.
  private static func middle(of gap: Gap) -> [UInt8]? {
    var shared = 0
    while shared < gap.lower.count, shared < gap.upper.count, gap.lower[shared] == gap.upper[shared] {
      shared += 1
    }
    let (low, high) = (number(gap.lower, from: shared), number(gap.upper, from: shared))
    guard high > low, high - low > 1 else { return nil }
    let middle = low + (high - low) / 2
    let bytes = withUnsafeBytes(of: middle.bigEndian) { [UInt8]($0) }
    let key = Array(gap.lower.prefix(shared)) + bytes
    return ByteOrder.compare(key, gap.lower) > 0 ? key : nil
  }

  /// The eight bytes from an index on, as a number; what is missing is zero.
  private static func number(_ key: [UInt8], from index: Int) -> UInt64 {
    var number: UInt64 = 0
    for offset in 0..<8 {
      number = number << 8 | (index + offset < key.count ? UInt64(key[index + offset]) : 0)
    }
    return number
  }
}
