import PersistenceCore
import PersistenceDriver

/// One walk over updates, by one task at a time.
final class RecordWalk<Model: PersistentRecord>: @unchecked Sendable {  // asked by one task at a time
  private var iterator: RecordUpdates<Model>.AsyncIterator

  init(_ updates: RecordUpdates<Model>) { iterator = updates.makeAsyncIterator() }

  @Sendable
  func next() async throws(PersistenceError) -> RecordUpdate<Model>? { try await iterator.next() }
}
