import PersistenceDriver

/// A set of stored keys: the records of one side of an intersection.
struct KeySet {
  private var keys = StoredKeys()
  /// Open addressing: one more than the number of a key, 0 where there is none.
  private var slots: [UInt32]
  private var mask: Int

  /// - Parameter expected: About how many keys there will be.
  init(expected: Int = 64) {
    var size = 128
    while size < expected * 2 { size *= 2 }
    slots = [UInt32](repeating: 0, count: size)
    mask = size - 1
  }

  var count: Int { keys.count }

  /// Adds a key that is not there yet.
  mutating func add(_ key: UnsafeRawBufferPointer) {
    if (keys.count + 1) * 2 > slots.count { grow() }
    keys.append(key)
    insert(keys.count, Self.hash(key))
  }

  func contains(_ key: UnsafeRawBufferPointer) -> Bool {
    var slot = Self.hash(key) & mask
    while slots[slot] != 0 {
      if keys.withKey(at: Int(slots[slot]) - 1, { TotalOrder.compare($0, key) == 0 }) { return true }
      slot = (slot + 1) & mask
    }
    return false
  }

  private mutating func insert(_ number: Int, _ hash: Int) {
    var slot = hash & mask
    while slots[slot] != 0 { slot = (slot + 1) & mask }
    slots[slot] = UInt32(truncatingIfNeeded: number)
  }

  private mutating func grow() {
    slots = [UInt32](repeating: 0, count: slots.count * 2)
    mask = slots.count - 1
    for number in 0..<keys.count { insert(number + 1, keys.withKey(at: number, Self.hash)) }
  }

  private static func hash(_ key: UnsafeRawBufferPointer) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: key)
    return hasher.finalize()
  }
}
