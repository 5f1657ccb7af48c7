import Foundation

/// Bytes under construction in memory that is used again and again.
package final class ByteBuffer {
  @exclusivity(unchecked) private var base: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var capacity: Int

  /// How many bytes there are.
  @exclusivity(unchecked) package private(set) var count = 0

  package init(capacity: Int = 256) {
    self.capacity = max(16, capacity)
    base = .allocate(byteCount: self.capacity, alignment: 16)
  }

  deinit { base.deallocate() }

  /// The bytes, valid until the buffer is changed.
  package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// A copy of the bytes.
  package var array: [UInt8] { [UInt8](bytes) }

  /// Forgets the bytes and keeps the memory, unless it has grown beyond what ordinary keys need.
  package func clear() {
    count = 0
    if capacity > 1 << 20 { reallocate(256) }
  }

  /// Forgets the bytes after a place.
  package func truncate(to count: Int) { self.count = min(self.count, count) }

  package func append(_ byte: UInt8) {
    reserve(1)
    base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  package func append(bigEndian number: UInt64) {
    reserve(8)
    base.storeBytes(of: number.bigEndian, toByteOffset: count, as: UInt64.self)
    count += 8
  }

  package func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
    reserve(bytes.count)
    (base + count).copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }

  package func append(_ bytes: [UInt8]) { bytes.withUnsafeBytes { append($0) } }

  /// Appends bytes as text of unknown length is written in keys: `00` becomes `00 FF`.
  package func append(escaping bytes: UnsafeRawBufferPointer) {
    guard var source = bytes.baseAddress, !bytes.isEmpty else { return }
    let end = source + bytes.count
    while source < end {
      let rest = end - source
      guard let zero = memchr(source, 0, rest) else {
        append(UnsafeRawBufferPointer(start: source, count: rest))
        return
      }
      let run = UnsafeRawPointer(zero) - source + 1
      append(UnsafeRawBufferPointer(start: source, count: run))
      append(0xFF)
      source += run
    }
  }

  /// Inverts all bytes from a place on.
  package func invert(from start: Int) {
    let bytes = base.assumingMemoryBound(to: UInt8.self)
    var index = start
    while index < count {
      bytes[index] = ~bytes[index]
      index += 1
    }
  }

  @inline(__always)
  private func reserve(_ more: Int) {
    if capacity - count < more { reallocate(max(capacity * 2, count + more)) }
  }

  private func reallocate(_ size: Int) {
    let larger = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    larger.copyMemory(from: base, byteCount: count)
    base.deallocate()
    base = larger
    capacity = size
  }
}
