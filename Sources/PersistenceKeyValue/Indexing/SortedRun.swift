import PersistenceDriver
import PersistenceDriverSupport

/// A sorted run of entries in a file, read sequentially.
///
/// Each entry consists of the lengths of key and value, four bytes each, and both byte strings.
final class SortedRun {
  private static let headLength = 8

  private let file: ScratchFile
  private let range: Range<Int>
  /// The buffered bytes of the file; those from `position` to `end` have not been returned.
  private var buffer: UnsafeMutableRawBufferPointer
  private var position = 0
  private var end = 0
  /// The offset of the buffer's end in the file.
  private var offset: Int

  /// The current entry, borrowed until ``advance()``; nil at the end.
  private(set) var entry: OrderedEntry?

  /// Opens the run in a range of the file, and reads `memory` bytes at a time.
  init(_ range: Range<Int>, of file: ScratchFile, memory: Int) {
    self.range = range
    self.file = file
    offset = range.lowerBound
    buffer = .allocate(byteCount: max(4096, memory), alignment: 16)
  }

  deinit { buffer.deallocate() }

  /// Appends a sorted batch to a file; returns its range.
  static func write(_ batch: EntryBatch, to file: ScratchFile) throws -> Range<Int> {
    let start = file.count
    let bytes = ByteBuffer(capacity: 1 << 16)
    try batch.forEach { key, value in
      bytes.append(bigEndian: UInt64(key.count) << 32 | UInt64(value.count))
      bytes.append(key)
      bytes.append(value)
      if bytes.count >= 1 << 16 {
        try file.append(bytes.bytes)
        bytes.clear()
      }
    }
    try file.append(bytes.bytes)
    return start..<file.count
  }

  func rewind() {
    (position, end, offset, entry) = (0, 0, range.lowerBound, nil)
  }

  func advance() throws {
    entry = nil
    guard try fill(Self.headLength) else {
      if position < end { throw Self.malformed }
      return
    }
    let head = UInt64(bigEndian: buffer.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    let (keyCount, valueCount) = (Int(head >> 32), Int(head & 0xFFFF_FFFF))
    guard keyCount + valueCount <= range.count, try fill(Self.headLength + keyCount + valueCount) else {
      throw Self.malformed
    }
    let key = position + Self.headLength
    let value = key + keyCount
    position = value + valueCount
    entry = OrderedEntry(
      key: UnsafeRawBufferPointer(rebasing: buffer[key..<value]),
      value: UnsafeRawBufferPointer(rebasing: buffer[value..<position]))
  }

  /// Buffers at least this many bytes; returns false at the end of the run.
  private func fill(_ wanted: Int) throws -> Bool {
    if end - position >= wanted { return true }
    if wanted > buffer.count {
      let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: wanted, alignment: 16)
      larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[position..<end]))
      buffer.deallocate()
      buffer = larger
    } else if position > 0, end > position {
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[position..<end]))
    }
    (position, end) = (0, end - position)
    let most = min(buffer.count - end, range.upperBound - offset)
    let found = try file.read(
      at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[end..<end + most]))
    guard found == most else { throw Self.malformed }
    end += found
    offset += found
    return end >= wanted
  }

  private static var malformed: PersistenceError {
    PersistenceError(.inputOutput, "the temporary file of an index build was changed")
  }
}
