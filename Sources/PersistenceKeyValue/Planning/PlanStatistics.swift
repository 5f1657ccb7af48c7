package import PersistenceDriver
import PersistenceDriverSupport

/// The statistics that a planner reads from a store; the cost of each is independent of the store's size.
///
/// Estimates affect the speed of an answer, never its content.
package protocol PlanStatistics {
  /// The number of records.
  func total() throws -> Int

  /// The number of entries in a plan's ranges, counted up to a limit.
  func entries(of plan: AccessPlan, upTo limit: Int) throws -> Int

  /// A sample of the model's records, with the conditions that each record matches.
  func sample(_ conditions: [PredicateNode]) throws -> PlanSample
}

/// A sample of a model's records, and the conditions that they match.
package struct PlanSample: Sendable, Hashable {
  package static let limit = 64

  /// The number of records in the sample, at most ``limit``.
  package var size: Int
  /// One bit set for each condition: bit *i* is set if record *i* matches it.
  package var matches: [UInt64]

  package init(size: Int, matches: [UInt64]) {
    self.size = size
    self.matches = matches
  }

  /// The number of sampled records that match all of some conditions.
  func hits(_ conditions: Set<Int>) -> Int {
    var all = size >= 64 ? UInt64.max : (1 << UInt64(size)) - 1
    for condition in conditions { all &= matches[condition] }
    return all.nonzeroBitCount
  }

  /// The estimated fraction of all records that match all of some conditions.
  ///
  /// If no sampled record matches, the estimate is half of the smallest fraction that the sample could show.
  /// Without a sample, each condition is assumed to pass an eighth.
  package func share(_ conditions: Set<Int>) -> Double {
    guard !conditions.isEmpty else { return 1 }
    guard size > 0 else { return conditions.reduce(1) { share, _ in share / 8 } }
    return max(0.5, Double(hits(conditions))) / Double(size)
  }
}

extension PlanSample {
  /// An empty sample for a number of conditions.
  fileprivate init(of conditions: Int) {
    self.init(size: 0, matches: [UInt64](repeating: 0, count: conditions))
  }

  /// Adds a record.
  fileprivate mutating func add(_ row: borrowing Row, _ conditions: [CompiledPredicate]) {
    for (number, condition) in conditions.enumerated() where (try? condition.matches(row)) ?? false {
      matches[number] |= 1 << UInt64(size)
    }
    size += 1
  }
}

/// The statistics of a model, read from the store.
struct PathStatistics: PlanStatistics {
  /// The largest number of bytes that a sample reads.
  private static let sampledBytes = 4 << 20

  let binding: ModelBinding
  let reader: any ByteReader
  let location: String
  /// The cache that knows how much the store has changed; nil to read a new sample and keep none.
  var cache: CatalogCache?

  func total() throws -> Int { try Catalog.count(of: binding.model, reader) }

  func entries(of plan: AccessPlan, upTo limit: Int) throws -> Int {
    try AccessPath(plan, binding, longestKey: reader.longestKey).count(reader, limit: limit)
  }

  func sample(_ conditions: [PredicateNode]) throws -> PlanSample {
    let predicates = try conditions.map { try CompiledPredicate($0, in: binding.declared) }
    let fields = Set(predicates.flatMap { $0.positions }).sorted()
    guard let cache else { return try read(fields, predicates, copyingTo: nil) }
    let total = try total()
    if let known = binding.keptSample.records(with: fields, of: total, at: reader.version, cache) {
      var sample = PlanSample(of: predicates.count)
      known.forEach { sample.add($0, predicates) }
      return sample
    }
    let records = SampledRecords(
      binding.keptSample.fields(adding: fields), width: binding.layout.count)
    let sample = try read(records.fields, predicates, copyingTo: records)
    binding.keptSample.keep(records, of: total, at: reader.version, cache)
    return sample
  }

  private func read(_ fields: [Int], _ predicates: [CompiledPredicate], copyingTo records: SampledRecords?)
    throws -> PlanSample
  {
    var sample = PlanSample(of: predicates.count)
    let access = RecordAccess(binding, reader, location: location)
    // A row of its own: in one that was used before, other fields point at memory that may be gone.
    let row = RowBuffer(count: binding.layout.count)
    var left = Self.sampledBytes
    try KeyBisection.sample(of: binding.prefix, reader, limit: PlanSample.limit) { record in
      // Reading a field verifies the record's checksums, which is slow for long records. A query reports a
      // damaged record; an estimate skips it.
      guard record.value.count <= left, (try? access.fill(row, from: record, only: fields)) != nil else {
        return
      }
      left -= record.value.count
      row.withRow {
        sample.add($0, predicates)
        records?.append($0)
      }
    }
    return sample
  }
}

/// Samples the records of a model by bisecting its key space.
///
/// A B-tree finds the first key after any bytes, but knows neither the rank of a key nor the key of a rank.
/// Each sampled key splits a gap between keys in two, and the oldest gap is split next. The sample therefore
/// spreads evenly over the key space, in a bounded number of seeks (decision 8).
struct KeyBisection {
  /// The range from a stored key up to bytes that need not be a key.
  private struct Gap {
    var lower: [UInt8]
    var upper: [UInt8]
  }

  /// Passes a sample of the records whose keys have a prefix to a closure.
  ///
  /// - Complexity: At most three seeks for each record of the limit.
  static func sample(
    of prefix: [UInt8], _ reader: any ByteReader, limit: Int, _ body: (OrderedEntry) throws -> Void
  ) throws {
    guard let end = ByteOrder.next(after: prefix) else { return }
    let cursor = try reader.acquireCursor(in: .records)
    defer { reader.release(cursor) }
    func seek(_ key: [UInt8]) throws -> OrderedEntry? {
      guard let found = try key.withUnsafeBytes({ try cursor.seek($0) }),
        end.withUnsafeBytes({ TotalOrder.compare(found.key, $0) < 0 })
      else { return nil }
      return found
    }
    guard let first = try seek(prefix) else { return }
    var gaps = [Gap(lower: [UInt8](first.key), upper: end)]
    try body(first)
    // The last record bounds the key space of the others.
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

  /// The bytes half way between the ends, greater than the lower one; nil if the gap is too narrow.
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

  /// The eight bytes from an index, as a number; missing bytes are zero.
  private static func number(_ key: [UInt8], from index: Int) -> UInt64 {
    var number: UInt64 = 0
    for offset in 0..<8 {
      number = number << 8 | (index + offset < key.count ? UInt64(key[index + offset]) : 0)
    }
    return number
  }
}
