import Foundation
import PersistenceDriver

/// A growing byte buffer whose memory is reused.
package final class ByteBuffer {
  @exclusivity(unchecked) private var base: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var capacity: Int

  @exclusivity(unchecked) package private(set) var count = 0

  package init(capacity: Int = 256) {
    self.capacity = max(16, capacity)
    base = .allocate(byteCount: self.capacity, alignment: 16)
  }

  deinit { base.deallocate() }

  /// The bytes, valid until the buffer changes.
  package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  package var array: [UInt8] { [UInt8](bytes) }

  /// Removes the bytes and keeps the memory, unless it has grown far beyond ordinary keys.
  package func clear() {
    count = 0
    if capacity > 1 << 20 { reallocate(256) }
  }

  /// Removes the bytes after the first ones.
  package func truncate(to count: Int) { self.count = min(self.count, count) }

  /// Replaces the first bytes by others, of which there are not more than the buffer has.
  func replaceStart(by bytes: [UInt8]) {
    bytes.withUnsafeBytes { bytes in
      guard let source = bytes.baseAddress else { return }
      base.copyMemory(from: source, byteCount: min(count, bytes.count))
    }
  }

  /// Appends bytes for the caller to set.
  package func extend(by more: Int) -> UnsafeMutableRawBufferPointer {
    reserve(more)
    defer { count += more }
    return UnsafeMutableRawBufferPointer(start: base + count, count: more)
  }

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

  /// Appends bytes in the escaped form of keys: `00` becomes `00 FF`.
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

/// The order of byte strings and of their prefixes.
package enum ByteOrder {
  /// Whether the bytes begin with a prefix.
  package static func begins(_ bytes: UnsafeRawBufferPointer, with prefix: UnsafeRawBufferPointer) -> Bool {
    bytes.count >= prefix.count
      && TotalOrder.compare(UnsafeRawBufferPointer(rebasing: bytes[..<prefix.count]), prefix) == 0
  }

  /// The least byte string greater than all with a prefix; nil if the prefix consists of `FF` only.
  static func next(after prefix: some Collection<UInt8>) -> [UInt8]? {
    var bytes = [UInt8](prefix)
    while let last = bytes.last {
      if last < 0xFF {
        bytes[bytes.count - 1] = last + 1
        return bytes
      }
      bytes.removeLast()
    }
    return nil
  }

  static func compare(_ left: [UInt8], _ right: [UInt8]) -> Int {
    left.withUnsafeBytes { left in right.withUnsafeBytes { TotalOrder.compare(left, $0) } }
  }
}
