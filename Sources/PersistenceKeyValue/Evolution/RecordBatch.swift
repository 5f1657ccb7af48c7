import PersistenceDriver

/// Some packed records with their keys, in order.
final class RecordBatch {
  private static let byteLimit = 256 << 10
  /// Callers of a change learn of its progress at least as often.
  private static let recordLimit = 1_000

  /// For each record: the lengths of its key and value in 32 bits each, the key, and the value.
  private let bytes = ByteBuffer()
  private(set) var records = 0

  var count: Int { bytes.count }
  var isFull: Bool { records >= Self.recordLimit || bytes.count >= Self.byteLimit }

  func clear() {
    bytes.clear()
    records = 0
  }

  /// Adds a record; returns the memory of its value, for the caller to set before the next call.
  func add(_ prefix: [UInt8], _ rest: UnsafeRawBufferPointer, count: Int) -> UnsafeMutableRawBufferPointer {
    bytes.append(bigEndian: UInt64(prefix.count + rest.count) << 32 | UInt64(count))
    bytes.append(prefix)
    bytes.append(rest)
    records += 1
    return bytes.extend(by: count)
  }

  func write(to writer: any ByteWriter) throws {
    let bytes = bytes.bytes
    var offset = 0
    while offset < bytes.count {
      let lengths = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).bigEndian
      let key = bytes[(offset + 8)...].prefix(Int(lengths >> 32))
      let value = bytes[key.endIndex...].prefix(Int(lengths & 0xFFFF_FFFF))
      try writer.reserve(
        UnsafeRawBufferPointer(rebasing: key), count: value.count, in: .records, isReplacing: true)?
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: value))
      offset = value.endIndex
    }
  }
}
