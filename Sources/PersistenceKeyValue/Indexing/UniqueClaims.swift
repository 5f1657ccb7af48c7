import PersistenceDriver
import PersistencePrimitives

/// Detects entries of a unique index with the same values, while all entries pass in key order.
///
/// The first byte of each value is ``mark`` if the entry claims its values. An entry with a null value does
/// not.
struct UniqueClaims {
  /// The first byte of an entry that claims its values.
  static let mark: UInt8 = 1

  private let binding: ModelBinding
  private let reader: any ByteReader
  private let location: String
  private let form: KeyForm

  /// The last entry that claimed its values.
  private let key = ByteBuffer()
  private let value = ByteBuffer()
  /// Whether an earlier entry of its run has exactly the values that the run shares.
  private var hasExact = false

  init(_ binding: ModelBinding, _ reader: any ByteReader, location: String) {
    self.binding = binding
    self.reader = reader
    self.location = location
    form = .entries(longest: reader.longestKey)
  }

  /// Checks the next entry; throws ``PersistenceError/Code/uniqueViolation`` with its record's key.
  mutating func check(_ sorted: OrderedEntry) throws {
    guard sorted.value.first == Self.mark else { return }
    let entry = OrderedEntry(
      key: sorted.key, value: UnsafeRawBufferPointer(rebasing: sorted.value.dropFirst()))
    if !key.bytes.isEmpty, try isSame(OrderedEntry(key: key.bytes, value: value.bytes), entry) {
      throw try violation(entry)
    }
    // A value may be exactly as long as the part that cut keys keep. Digests of longer values may then
    // separate its entries, but a run has at most one such value.
    let runLength = form.runLength
    let run = entry.key.prefix(runLength)
    if hasExact { hasExact = key.bytes.prefix(runLength).elementsEqual(run) }
    if try isExact(entry) {
      guard !hasExact else { throw try violation(entry) }
      hasExact = true
    }
    key.clear()
    key.append(entry.key)
    value.clear()
    value.append(entry.value)
  }

  /// Whether two entries have the same values.
  private func isSame(_ left: OrderedEntry, _ right: OrderedEntry) throws -> Bool {
    if let values = try values(of: left) { return has(right, values) }
    if let values = try values(of: right) { return has(left, values) }
    // The bytes before the digest may belong to the primary key already.
    return form.valuesDigest(of: left.key).elementsEqual(form.valuesDigest(of: right.key))
  }

  private func has(_ entry: OrderedEntry, _ values: UnsafeRawBufferPointer) -> Bool {
    ByteOrder.begins(entry.key, with: values) && form.hasValues(entry.key, [UInt8](values))
  }

  /// The values of an entry whose key is not cut.
  private func values(of entry: OrderedEntry) throws -> UnsafeRawBufferPointer? {
    guard !form.isCut(entry.key) else { return nil }
    return UnsafeRawBufferPointer(rebasing: entry.key[..<(try IndexEntry.split(of: entry))])
  }

  private func isExact(_ entry: OrderedEntry) throws -> Bool {
    guard entry.key.count > form.runLength else { return false }
    guard form.isCut(entry.key) else { return try IndexEntry.split(of: entry) == form.runLength }
    let run = UnsafeRawBufferPointer(rebasing: entry.key[..<form.runLength])
    return SHA256.hash(data: run).elementsEqual(form.valuesDigest(of: entry.key))
  }

  private func violation(_ entry: OrderedEntry) throws -> PersistenceError {
    let stored = reader.workspace.acquireBuffer()
    let row = reader.workspace.acquireRow(binding.layout.count)
    defer {
      reader.workspace.release(stored)
      reader.workspace.release(row)
    }
    try IndexEntry.appendRecordKey(of: entry, prefix: binding.prefix, to: stored)
    let number = entry.key[binding.prefix.count]
    guard let record = try reader.value(of: stored.bytes, in: .records),
      let index = binding.storedIndexes.first(where: { $0.prefix.last == number })
    else {
      throw PersistenceError.damaged("an index entry refers to a missing record").at(
        model: binding.declared.name, location: location)
    }
    try RecordAccess(binding, reader, location: location)
      .fill(row, from: OrderedEntry(key: stored.bytes, value: record), only: binding.entryPositions)
    return try row.withRow { row in
      var values: [PersistentValue] = []
      for position in index.positions { values.append(try row.value(at: position)) }
      return PersistenceError.uniqueViolation(
        values, of: index.schema, in: binding.declared, key: try RecordKey(of: row, in: binding.declared)
      ).at(location: location)
    }
  }
}
