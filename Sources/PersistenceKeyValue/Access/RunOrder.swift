import PersistenceDriver

/// Sorts the entries of a run, which the store keeps in another order (``KeyForm``), in the contract's order.
///
/// Entries with the same values share one copy of them in memory. If an entry contains the record's primary
/// key, its record is not read.
struct RunOrder {
  private let path: AccessPath
  private let binding: ModelBinding
  private let reader: any ByteReader

  /// The full values by their digests.
  private var values: [[UInt8]: [UInt8]] = [:]

  /// An entry with the two parts of its full key.
  private struct Keyed {
    let values: [UInt8]
    var primary: [UInt8] = []
    let entry: OrderedEntry

    static func < (left: Keyed, right: Keyed) -> Bool {
      let order = ByteOrder.compare(left.values, right.values)
      return order != 0 ? order < 0 : ByteOrder.compare(left.primary, right.primary) < 0
    }
  }

  init(_ path: AccessPath, _ binding: ModelBinding, _ reader: any ByteReader) {
    self.path = path
    self.binding = binding
    self.reader = reader
  }

  /// Sorts all entries of a run in the direction of the path.
  ///
  /// - Complexity: O(*n* log *n*) time, and memory for *n* primary keys.
  mutating func sorted(
    _ entries: [OrderedEntry], record: (OrderedEntry) throws -> OrderedEntry
  ) throws -> [OrderedEntry] {
    var keyed: [Keyed] = []
    keyed.reserveCapacity(entries.count)
    for (number, entry) in entries.enumerated() {
      if number & 0x3F == 0 { try ReadInterruption.check() }
      keyed.append(try self.keyed(entry, record))
    }
    keyed.sort(by: <)
    return path.isReversed ? keyed.reversed().map(\.entry) : keyed.map(\.entry)
  }

  private mutating func keyed(_ entry: OrderedEntry, _ find: (OrderedEntry) throws -> OrderedEntry) throws
    -> Keyed
  {
    guard path.form.isCut(entry.key) else {
      let split = path.index == nil ? entry.key.count : try IndexEntry.split(of: entry)
      return Keyed(values: [UInt8](entry.key[..<split]), primary: [UInt8](entry.key[split...]), entry: entry)
    }
    let digest = path.index == nil ? [] : [UInt8](path.form.valuesDigest(of: entry.key))
    let known = path.index == nil ? nil : values[digest]
    if let known, !KeyForm.records(longest: path.form.longest).isCut(entry.value) {
      return Keyed(values: known, primary: [UInt8](entry.value.dropFirst(binding.prefix.count)), entry: entry)
    }
    let record = try find(entry)
    let row = reader.workspace.acquireRow(binding.layout.count)
    let key = reader.workspace.acquireBuffer()
    defer {
      reader.workspace.release(row)
      reader.workspace.release(key)
    }
    try binding.layout.fill(row, from: record.value)
    guard let index = path.index else {
      try row.withRow { try binding.appendKey(of: $0, to: key) }
      return Keyed(values: key.array, entry: entry)
    }
    let split = try row.withRow { try binding.appendEntry(of: $0, in: index, to: key) }
    let full = known ?? [UInt8](key.bytes[..<split])
    values[digest] = full
    return Keyed(values: full, primary: [UInt8](key.bytes[split...]), entry: entry)
  }
}
