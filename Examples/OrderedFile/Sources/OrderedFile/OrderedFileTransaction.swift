import PersistenceDriver
import PersistenceKeyValue

/// The content of a store after one commit, as a value: a copy is a snapshot.
struct LogState: Sendable {
  /// The number of the commit, and the offset at which its batch ends in the file.
  var head = LogHead()
  var maps = KeySpace.allCases.map { _ in SortedEntries() }

  /// Applies the batch of the next commit.
  ///
  /// A write is its key space, the lengths of key and value, the key and the value. A removal has the length -1.
  mutating func apply(_ batch: (writes: ArraySlice<UInt8>, end: Int)) throws {
    var rest = batch.writes
    while !rest.isEmpty {
      let front = [UInt8](rest.prefix(24))
      guard front.count == 24, maps.indices.contains(front.word(at: 0)), front.word(at: 8) > 0 else {
        throw PersistenceError.damaged("a write in the log is malformed")
      }
      let key = rest.dropFirst(24).prefix(front.word(at: 8))
      let value = rest.dropFirst(24 + key.count).prefix(max(0, front.word(at: 16)))
      key.withUnsafeBytes { key in
        value.withUnsafeBytes { maps[front.word(at: 0)].set(key, front.word(at: 16) < 0 ? nil : $0) }
      }
      rest = rest.dropFirst(24 + key.count + value.count)
    }
    head = LogHead(commit: head.commit + 1, end: batch.end)
  }
}

/// A copy of the state and, in a write transaction, the batch of its changes.
final class OrderedFileTransaction: OrderedWriteTransaction {
  private let store: OrderedFileStore
  private var state: LogState
  private var writes: [UInt8] = []

  init(_ store: OrderedFileStore, _ state: LogState) { (self.store, self.state) = (store, state) }

  var version: Int { state.head.commit }

  func value(of key: Bytes, in space: KeySpace) throws -> Bytes? { state.maps[space.rawValue].value(of: key) }

  func cursor(in space: KeySpace) throws -> any OrderedCursor { EntryCursor(state.maps[space.rawValue]) }

  func put(_ key: Bytes, _ value: Bytes, in space: KeySpace) throws { set(key, value, in: space) }

  func remove(_ key: Bytes, in space: KeySpace) throws { set(key, nil, in: space) }

  private func set(_ key: Bytes, _ value: Bytes?, in space: KeySpace) {
    state.maps[space.rawValue].set(key, value)
    writes += [space.rawValue, key.count, value?.count ?? -1].bytes + key
    if let value { writes.append(contentsOf: value) }
  }

  func commit() throws {
    try store.commit(state, writes)
    store.file.unlock()
  }

  func rollback() { store.file.unlock() }
}
