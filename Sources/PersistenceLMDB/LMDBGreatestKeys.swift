import PersistenceDriver
import PersistenceKeyValue

/// The greatest key of each space, if it is known.
///
/// Every record that is written compares its key, so the keys lie in memory without reference counts.
final class LMDBGreatestKeys {
  private static let spaces = KeySpace.allCases.count

  /// The length of the key of each space: 0 in an empty space, and negative if the key is unknown.
  private let counts: UnsafeMutablePointer<Int>
  private let bytes: UnsafeMutableRawPointer
  private let longest: Int

  /// Makes room for keys of a length, all of them unknown.
  init(longest: Int) {
    self.longest = longest
    counts = .allocate(capacity: Self.spaces)
    counts.initialize(repeating: -1, count: Self.spaces)
    bytes = .allocate(byteCount: Self.spaces * longest, alignment: MemoryLayout<Int>.alignment)
  }

  deinit {
    counts.deallocate()
    bytes.deallocate()
  }

  /// Whether the greatest key of a space is known.
  func isKnown(in space: KeySpace) -> Bool { counts[space.rawValue] >= 0 }

  /// Whether a key is greater than all keys of its space; false if the greatest one is unknown.
  func isExceeded(by key: UnsafeRawBufferPointer, in space: KeySpace) -> Bool {
    let count = counts[space.rawValue]
    guard count >= 0 else { return false }
    let greatest = UnsafeRawBufferPointer(start: bytes + space.rawValue * longest, count: count)
    return TotalOrder.compare(key, greatest) > 0
  }

  /// Records the greatest key of a space; nil if the space is empty.
  func set(_ key: UnsafeRawBufferPointer?, in space: KeySpace) {
    // A longer key is one of a damaged page.
    guard let key, let source = key.baseAddress, key.count <= longest else {
      counts[space.rawValue] = key == nil ? 0 : -1
      return
    }
    (bytes + space.rawValue * longest).copyMemory(from: source, byteCount: key.count)
    counts[space.rawValue] = key.count
  }

  func forget(in space: KeySpace) { counts[space.rawValue] = -1 }

  func forgetAll() {
    for space in 0..<Self.spaces { counts[space] = -1 }
  }
}
