/// Memory from which short-lived copies are cut: addresses stay valid until it is reset.
@usableFromInline
struct ByteArena {
  @usableFromInline var chunk: UnsafeMutableRawBufferPointer
  @usableFromInline var used = 0
  @usableFromInline var full: [UnsafeMutableRawBufferPointer] = []

  @usableFromInline
  init() { chunk = UnsafeMutableRawBufferPointer(start: nil, count: 0) }

  @inlinable
  mutating func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    // An empty run still needs an address, which distinguishes it from nil.
    if chunk.count - used <= bytes.count { grow(by: bytes.count) }
    let target = UnsafeMutableRawBufferPointer(rebasing: chunk[used..<used + bytes.count])
    target.copyMemory(from: bytes)
    used += bytes.count
    return UnsafeRawBufferPointer(target)
  }

  @usableFromInline
  mutating func grow(by count: Int) {
    if chunk.count > 0 { full.append(chunk) }
    let size = max(256, max(chunk.count * 2, count + 1))
    chunk = .allocate(byteCount: size, alignment: 16)
    used = 0
  }

  /// Removes all copies, and keeps the largest chunk unless it is larger than ordinary rows need.
  @inlinable
  mutating func reset() {
    used = 0
    if !full.isEmpty || chunk.count > 1 << 20 { shrink() }
  }

  @usableFromInline
  mutating func shrink() {
    for chunk in full { chunk.deallocate() }
    full.removeAll()
    if chunk.count > 1 << 20 {
      chunk.deallocate()
      chunk = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }
  }

  /// Frees all memory; the arena is not used afterwards.
  func deallocate() {
    for chunk in full { chunk.deallocate() }
    chunk.deallocate()
  }
}
