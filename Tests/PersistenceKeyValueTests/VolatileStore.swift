import Foundation
import PersistenceDriver
import PersistenceKeyValue
import Synchronization

/// An ordered store in memory that overwrites borrowed bytes as soon as the protocols allow, and counts its calls.
final class VolatileStore: OrderedStore {
  typealias Content = [KeySpace: [(key: [UInt8], value: [UInt8])]]

  struct State: @unchecked Sendable {  // arrays of values
    var content: Content = [:]
    var version = 0
    var isWriting = false
    var rollbacks = 0
    var writesUntilFailure: Int?
  }

  struct Failure: Error {}

  let location = "volatile \(UUID())"
  let longestKey: Int
  let state = Mutex(State())

  init(longestKey: Int = 128) { self.longestKey = longestKey }

  func beginReading() throws -> any OrderedReadTransaction {
    VolatileTransaction(self, state.withLock { $0 })
  }

  func beginWriting(until deadline: ContinuousClock.Instant) throws -> (any OrderedWriteTransaction)? {
    state.withLock { state in
      guard !state.isWriting else { return nil }
      state.isWriting = true
      return VolatileTransaction(self, state)
    }
  }
}

/// A copy of the content; each kind of call has its own memory for the bytes that it returns.
final class VolatileTransaction: OrderedWriteTransaction {
  private let store: VolatileStore
  private var state: VolatileStore.State
  private let borrowed = BorrowedBytes()
  private var cursors: [VolatileCursor] = []
  var version: Int { state.version }

  init(_ store: VolatileStore, _ state: VolatileStore.State) { (self.store, self.state) = (store, state) }

  private func position(of key: UnsafeRawBufferPointer, in space: KeySpace) -> (index: Int, isFound: Bool) {
    let entries = state.content[space] ?? []
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      let order = entries[middle].key.withUnsafeBytes { TotalOrder.compare($0, key) }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, low < entries.count && entries[low].key.elementsEqual(key))
  }

  func value(of key: UnsafeRawBufferPointer, in space: KeySpace) throws -> UnsafeRawBufferPointer? {
    let (index, isFound) = position(of: key, in: space)
    return isFound ? borrowed.copy(state.content[space]?[index].value ?? []) : nil
  }

  func cursor(in space: KeySpace) throws -> any OrderedCursor {
    let cursor = VolatileCursor(state.content[space] ?? []) { [unowned self] in
      position(of: $0, in: space).index
    }
    cursors.append(cursor)
    return cursor
  }

  private func write(
    _ key: UnsafeRawBufferPointer, _ value: [UInt8]?, in space: KeySpace
  ) throws {
    let failsNow = store.state.withLock { state in
      state.writesUntilFailure = state.writesUntilFailure.map { $0 - 1 }
      return state.writesUntilFailure == 0
    }
    if failsNow { throw VolatileStore.Failure() }
    borrowed.invalidate()
    for cursor in cursors { cursor.invalidate() }
    cursors.removeAll()
    let (index, isFound) = position(of: key, in: space)
    state.content[space, default: []].replaceSubrange(
      index..<index + (isFound ? 1 : 0), with: value.map { [([UInt8](key), $0)] } ?? [])
  }

  func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws {
    try write(key, [UInt8](value), in: space)
  }

  func remove(_ key: UnsafeRawBufferPointer, in space: KeySpace) throws { try write(key, nil, in: space) }

  func commit() throws {
    store.state.withLock { shared in
      shared.content = state.content
      shared.version = state.version + 1
      shared.isWriting = false
    }
  }

  func rollback() {
    store.state.withLock { state in
      state.isWriting = false
      state.rollbacks += 1
    }
  }
}

final class VolatileCursor: OrderedCursor {
  private let entries: [(key: [UInt8], value: [UInt8])]
  private let search: (UnsafeRawBufferPointer) -> Int
  private let (key, value) = (BorrowedBytes(), BorrowedBytes())
  private var index = 0

  init(
    _ entries: [(key: [UInt8], value: [UInt8])], _ search: @escaping (UnsafeRawBufferPointer) -> Int
  ) {
    (self.entries, self.search) = (entries, search)
  }

  func seek(_ key: UnsafeRawBufferPointer) throws -> OrderedEntry? { move(to: search(key)) }
  func last() throws -> OrderedEntry? { move(to: entries.count - 1) }
  func next() throws -> OrderedEntry? { move(to: index + 1) }
  func previous() throws -> OrderedEntry? { move(to: index - 1) }

  func invalidate() {
    key.invalidate()
    value.invalidate()
  }

  private func move(to index: Int) -> OrderedEntry? {
    invalidate()
    self.index = index
    guard entries.indices.contains(index) else { return nil }
    return OrderedEntry(key: key.copy(entries[index].key), value: value.copy(entries[index].value))
  }
}

/// Memory for bytes that are overwritten when they are no longer valid, and freed with the object.
private final class BorrowedBytes {
  private var all: [UnsafeMutableRawBufferPointer] = []

  deinit { for bytes in all { bytes.deallocate() } }

  func invalidate() {
    for bytes in all {
      if let base = bytes.baseAddress { memset(base, 0xEE, bytes.count) }
    }
  }

  func copy(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
    invalidate()
    if (all.last?.count ?? 0) < max(1, bytes.count) {
      all.append(.allocate(byteCount: 2 * max(1, bytes.count), alignment: 16))
    }
    guard let memory = all.last else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    memory.copyBytes(from: bytes)
    return UnsafeRawBufferPointer(rebasing: memory[..<bytes.count])
  }
}
