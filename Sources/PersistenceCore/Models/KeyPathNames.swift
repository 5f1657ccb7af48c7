import Synchronization

/// The stored names of the key paths that a program has used first, found by the address of the key path.
///
/// To hash and to compare a key path takes longer than the other steps of making a comparison. A literal key path is one
/// object for each place in the code, so its address finds it again. An entry is never replaced and keeps its key path,
/// so no other key path gets its address, and readers need no lock.
final class KeyPathNames: @unchecked Sendable {  // entries are immutable, and slots atomic
  private final class Entry {
    let keyPath: AnyKeyPath
    let name: String

    init(_ keyPath: AnyKeyPath, _ name: String) { (self.keyPath, self.name) = (keyPath, name) }
  }

  /// How many key paths to keep; a program may make any number of them.
  static let limit = 16
  /// How many slots may hold a key path.
  private static let attempts = 4

  private let slots: UnsafeMutablePointer<Atomic<UnsafeRawPointer?>>

  init() {
    slots = .allocate(capacity: Self.limit)
    for index in 0..<Self.limit { (slots + index).initialize(to: Atomic<UnsafeRawPointer?>(nil)) }
  }

  deinit {
    for index in 0..<Self.limit {
      guard let entry = slots[index].load(ordering: .acquiring) else { continue }
      Unmanaged<Entry>.fromOpaque(entry).release()
    }
    slots.deinitialize(count: Self.limit)
    slots.deallocate()
  }

  /// The name of a key path, which a closure finds the first time; nil if the closure finds none.
  func name(of keyPath: AnyKeyPath, _ find: (AnyKeyPath) -> String?) -> String? {
    let address = UInt(bitPattern: Unmanaged.passUnretained(keyPath).toOpaque())
    // The multiplication moves the middle bits, in which addresses differ, to the top.
    let start = Int(truncatingIfNeeded: (UInt64(address) &* 0x9E37_79B9_7F4A_7C15) >> 48)
    for attempt in 0..<Self.attempts {
      let index = (start + attempt) % Self.limit
      guard let known = slots[index].load(ordering: .acquiring) else {
        let name = find(keyPath)
        if let name { keep(Entry(keyPath, name), at: index) }
        return name
      }
      let entry = Unmanaged<Entry>.fromOpaque(known).takeUnretainedValue()
      if entry.keyPath === keyPath { return entry.name }
    }
    return find(keyPath)
  }

  /// Keeps an entry, unless another thread has filled the slot.
  private func keep(_ entry: Entry, at index: Int) {
    let made = Unmanaged.passRetained(entry)
    let (isKept, _) = slots[index].compareExchange(
      expected: nil, desired: UnsafeRawPointer(made.toOpaque()), ordering: .acquiringAndReleasing)
    if !isKept { made.release() }
  }
}
