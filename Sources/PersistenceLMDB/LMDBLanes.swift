import PersistenceDriver
import PersistenceKeyValue
import Synchronization

/// A reader with what keeps its store open, used by one thread at a time.
final class LMDBLane: @unchecked Sendable {  // whoever took it out of its place is alone with it
  let reader: LMDBReader
  let session: LMDBSession
  let store: KeyValueStore

  init(_ reader: LMDBReader, _ session: LMDBSession) {
    self.reader = reader
    self.session = session
    store = session.environment.store
  }
}

/// The readers of a context between two reads, each where the thread that used it last finds it again.
///
/// Threads that read at once share nothing here: no lock is taken, no reference counted, and each place has its
/// cache lines for itself.
final class LMDBLanes: Sendable {
  private struct Place: ~Copyable {
    let lane = Atomic<UnsafeRawPointer?>(nil)
    // Two cache lines, since processors fetch them in pairs.
    private let padding: InlineArray<15, UInt64> = .init(repeating: 0)
  }

  private static let count = 16
  /// How many places a thread looks at before it goes another way.
  private static let attempts = 4

  nonisolated(unsafe) private let places: UnsafeMutablePointer<Place>  // atomics, which are never moved
  private let isClosed = Atomic<Bool>(false)

  init() {
    places = .allocate(capacity: Self.count)
    for index in 0..<Self.count { (places + index).initialize(to: Place()) }
  }

  deinit {
    for lane in drain() { lane.session.environment.release(lane.reader) }
    places.deinitialize(count: Self.count)
    places.deallocate()
  }

  /// A lane that nobody uses; nil where none was found nearby.
  func take() -> LMDBLane? {
    let start = ThreadIdentity.current.spread
    for attempt in 0..<Self.attempts {
      if let lane = empty((start &+ attempt) % Self.count) { return lane }
    }
    return nil
  }

  /// Puts a lane back; says whether there was a place for it.
  func give(_ lane: LMDBLane) -> Bool {
    let start = ThreadIdentity.current.spread
    let address = Unmanaged.passRetained(lane)
    for attempt in 0..<Self.attempts {
      let index = (start &+ attempt) % Self.count
      let (placed, _) = places[index].lane.compareExchange(
        expected: nil, desired: UnsafeRawPointer(address.toOpaque()), ordering: .sequentiallyConsistent)
      guard placed else { continue }
      // Who closes empties the places after he has said so: one of the two sees the other.
      guard isClosed.load(ordering: .sequentiallyConsistent), let back = empty(index) else { return true }
      back.session.environment.release(back.reader)
      return true
    }
    address.release()
    return false
  }

  /// Takes all lanes that nobody uses.
  func drain() -> [LMDBLane] { (0..<Self.count).compactMap { empty($0) } }

  /// Takes all lanes, and takes none back any more.
  func close() {
    isClosed.store(true, ordering: .sequentiallyConsistent)
    for lane in drain() { lane.session.environment.release(lane.reader) }
  }

  private func empty(_ index: Int) -> LMDBLane? {
    // Looked at first, since an exchange takes the cache line from whoever has it.
    guard places[index].lane.load(ordering: .relaxed) != nil else { return nil }
    return places[index].lane.exchange(nil, ordering: .sequentiallyConsistent).map {
      Unmanaged<LMDBLane>.fromOpaque($0).takeRetainedValue()
    }
  }
}
