import Foundation
import PersistenceDriver

/// One committed state of an ordered store.
///
/// One thread at a time reads from it. The lock is recursive, since a closure that receives rows may read another
/// result of the same snapshot.
final class OrderedSnapshot: StorageSnapshot, KeyValueReading, ByteSource, @unchecked Sendable {  // locks
  let store: KeyValueStore
  private let reader: OrderedReader  // used under the lock only
  private let lock = NSRecursiveLock()

  init(_ store: KeyValueStore, _ reader: OrderedReader) {
    self.store = store
    self.reader = reader
  }

  func withReader<Result>(_ body: (any ByteReader) throws -> Result) throws -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(reader)
  }

  func fetch(_ request: FetchRequest) throws -> any StorageResults { try store.results(request, self) }

  func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try store.results(request, selecting: positions, self)
  }
}
