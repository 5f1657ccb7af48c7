import PersistenceDriver

/// A sorted part of the entries, written to a file and read from its beginning to its end.
///
/// Each entry is the lengths of its key and of its value, four bytes each, and both.
final class SortedRun {
  private static let headLength = 8

  private let file: ScratchFile
  private let range: Range<Int>
  /// What has been read of the file and not been handed out, from `place` to `end`.
  private var buffer: UnsafeMutableRawBufferPointer
  private var place = 0
  private var end = 0
  /// Where in the file the buffer ends.
  private var offset: Int

  /// The entry that is next, borrowed until the one after it is asked for; nil behind the last.
  private(set) var entry: ByteEntry?

  /// - Parameters:
  ///   - range: Where in the file the run stands.
  ///   - file: The file.
  ///   - memory: How many bytes are read at a time.
  init(_ range: Range<Int>, of file: ScratchFile, memory: Int) {
    self.range = range
    self.file = file
    offset = range.lowerBound
    buffer = .allocate(byteCount: max(4096, memory), alignment: 16)
  }

  deinit { buffer.deallocate() }

  /// Writes a sorted batch to the end of a file; says where it stands there.
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

  /// Goes back before the first entry.
  func rewind() {
    (place, end, offset, entry) = (0, 0, range.lowerBound, nil)
  }

  /// Goes to the next entry.
  ///
  /// - Throws: ``PersistenceError`` where the file cannot be read, or does not hold what was written.
  func advance() throws {
    entry = nil
    guard try fill(Self.headLength) else {
      if place < end { throw Self.malformed }
      return
    }
    let head = UInt64(bigEndian: buffer.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    let (keyCount, valueCount) = (Int(head >> 32), Int(head & 0xFFFF_FFFF))
    guard keyCount + valueCount <= range.count, try fill(Self.headLength + keyCount + valueCount) else {
      throw Self.malformed
    }
    let key = place + Self.headLength
    let value = key + keyCount
    place = value + valueCount
    entry = ByteEntry(
      key: UnsafeRawBufferPointer(rebasing: buffer[key..<value]),
      value: UnsafeRawBufferPointer(rebasing: buffer[value..<place]))
  }

  /// Makes sure that the buffer holds so many bytes; says whether there are as many.
  private func fill(_ wanted: Int) throws -> Bool {
    if end - place >= wanted { return true }
    if wanted > buffer.count {
      let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: wanted, alignment: 16)
      larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[place..<end]))
      buffer.deallocate()
      buffer = larger
    } else if place > 0, end > place {
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[place..<end]))
    }
    (place, end) = (0, end - place)
    let most = min(buffer.count - end, range.upperBound - offset)
    let found = try file.read(
      at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[end..<end + most]))
    guard found == most else { throw Self.malformed }
    end += found
    offset += found
    return end >= wanted
  }

  private static var malformed: PersistenceError {
    PersistenceError(.inputOutput, "the file that is sorted in does not hold what was written to it")
  }
}
