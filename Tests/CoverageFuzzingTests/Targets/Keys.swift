import Foundation
import PersistenceDriver

@testable import PersistenceKeyValue

extension FuzzTarget {
  /// Keys of records and entries: those of two lists of values, of which the first byte is the length of the first.
  static let keys = FuzzTarget(name: "keys", seeds: Keys.seeds) { bytes in
    guard let length = bytes.first else { return }
    let content = bytes.content
    let split = min(Int(length), content.count)
    let first = try Keys.read(UnsafeRawBufferPointer(rebasing: content[..<split]))
    let second = try Keys.read(UnsafeRawBufferPointer(rebasing: content[split...]))
    try Keys.readEntry(content, split)
    if let first, let second { try Keys.compare(first, second) }
  }
}

private enum Keys {
  /// Decodes a key in every way; returns its values.
  static func read(_ key: UnsafeRawBufferPointer) throws -> [PersistentValue]? {
    let values = try accepted(PersistenceError.self) { try KeyCodec.values(in: key) }
    try walk(key, values)
    guard let values else { return nil }
    let encoded = try KeyCodec.bytes(of: values)
    try encoded.withUnsafeBytes { encoded in
      try require(try KeyCodec.values(in: encoded) == values, "values change when they are encoded again")
      try walk(encoded, values)
    }
    return values
  }

  /// Decodes and skips each component; throws unless the values are these.
  private static func walk(_ key: UnsafeRawBufferPointer, _ values: [PersistentValue]?) throws {
    let row = RowBuffer(count: 1)
    var (filled, skipped) = (0, 0)
    for number in 0..<(values?.count ?? 32) {
      row.reset()
      let value = try accepted(PersistenceError.self) { () -> PersistentValue in
        _ = try KeyCodec.fill(0, of: row, from: key, at: &filled)
        return try row.withRow { try $0.value(at: 0) }
      }
      let skip: Void? = try accepted(PersistenceError.self) { try KeyCodec.skip(in: key, at: &skipped) }
      guard let values else {
        guard value != nil, skip != nil else { return }
        continue
      }
      try require(value == values[number], "a component differs when it is decoded into a row")
      try require(skip != nil && filled == skipped, "a component's end differs when it is skipped")
    }
  }

  static func compare(_ left: [PersistentValue], _ right: [PersistentValue]) throws {
    let order = RecordKey.compare(RecordKey(left), RecordKey(right))
    let byBytes = ByteOrder.compare(try KeyCodec.bytes(of: left), try KeyCodec.bytes(of: right))
    try require(
      order.signum() == byBytes.signum(), "keys \(left) and \(right) have another order than their values")
    guard let left = left.first, let right = right.first else { return }
    let descending = ByteOrder.compare(try Self.descending(left), try Self.descending(right))
    try require(
      descending.signum() == -PersistentValue.compare(left, right).signum(),
      "descending keys \(left) and \(right) are not in descending order")
  }

  private static func descending(_ value: PersistentValue) throws -> [UInt8] {
    let (row, key) = (RowBuffer(count: 1), ByteBuffer())
    row.set(value, at: 0)
    try row.withRow { try KeyCodec.append(cell: $0[0], isDescending: true, to: key) }
    // A sort key ends so: without it, the end of a text would precede an inverted escape.
    key.append(KeyCodec.afterLast)
    return key.array
  }

  /// Reads the bytes as an index entry whose value is the last two, and as a stored key that may be cut.
  static func readEntry(_ bytes: UnsafeRawBufferPointer, _ split: Int) throws {
    let cut = max(0, bytes.count - 2)
    let entry = OrderedEntry(
      key: UnsafeRawBufferPointer(rebasing: bytes[..<cut]),
      value: UnsafeRawBufferPointer(rebasing: bytes[cut...]))
    let key = ByteBuffer()
    _ = try accepted(PersistenceError.self) {
      try IndexEntry.appendRecordKey(of: entry, prefix: [0, 1], to: key)
    }
    let values = [UInt8](bytes[..<split])
    for form in [KeyForm.entries(longest: 100), .records(longest: 100)] where form.isCut(bytes) {
      _ = form.valuesDigest(of: bytes)
      _ = form.hasValues(bytes, values)
    }
    let model = ModelBinding(
      StoredModel(number: 1, schema: try FuzzModels.pair()), declared: try FuzzModels.pair())
    _ = model.recordKey(stored: bytes, form: .records(longest: 511))
  }

  @Sendable static func seeds() throws -> [[UInt8]] {
    try (FuzzModels.records[0] + [.null, .decimal(.nan), .decimal(0), .double(.nan), .text("")]).map {
      value in
      let key = try KeyCodec.bytes(of: [value])
      return [UInt8(key.count)] + key + (try KeyCodec.bytes(of: [value, .integer(3)]))
    }
  }
}
