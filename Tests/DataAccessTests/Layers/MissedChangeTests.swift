@testable import DataAccess
import DataAccessTesting
import Foundation
import PersistenceCore
import Synchronization
import Testing

@Suite("Changes that arrive before an acknowledgement")
struct MissedChangeTests {
  /// Who wrote the state that a change tells while an own write of the object waits.
  enum Told: CaseIterable {
    case otherClientAfterOwnWrite, otherClientBeforeOwnWrite, ownWrite
  }

  @Test(
    "A1 a remote change that a waiting write kept out is not hidden by its acknowledgement",
    .timeLimit(.minutes(1)), arguments: Told.allCases)
  func acknowledged(told: Told) async throws {
    let clock = TestClock()
    let remote = LateAcknowledgements(
      try RepositoryDataSource<Note>.inMemory([Note(1, "old"), Note(2, "old")]), clock)
    let repository = Repository(MemoryContext())
    var options = LayerTestBed.options(clock)
    options.writes = .localFirst
    (options.local, options.remote) = (LayerLimits(), LayerLimits())
    let source = try LayeredDataSource(
      local: repository.dataSource(of: Note.self), remote: remote, options: options)
    let outbox = try #require(source.outbox)
    _ = try await source.execute(everyNote)

    // The remote layer has applied the first write, and its acknowledgement is on its way.
    if told == .otherClientBeforeOwnWrite { try await source.save(Note(2, "mine")) }
    try await source.save(Note(1, "mine"))
    await clock.sleepers(1)
    if told != .ownWrite { try await remote.base.save(Note(1, "theirs")) }
    var pause = RetryPause(FollowingOptions(clock: clock))
    _ = try await source.core.storeChanges(of: remote, since: DataSourceCheckpoint("0"), &pause)
    #expect(try repository.find(Note.self, id: 1)?.text == "mine")

    let passing = Task {
      while !Task.isCancelled {
        clock.advance(by: .seconds(1))
        await Task.yield()
      }
    }
    try await outbox.send()
    passing.cancel()
    #expect(try await outbox.count() == 0)
    remote.isOffline = true
    if told == .otherClientAfterOwnWrite {
      await #expect(throws: PersistenceError.self) { try await source.find(1) }
      remote.isOffline = false
      #expect(try await source.find(1)?.text == "theirs")
    } else {
      #expect(try await source.find(1)?.text == "mine")
      #expect(try await source.execute(everyNote).count == 2)
      #expect(try await remote.base.find(1)?.text == "mine")
    }
  }
}

/// A data source whose changes are those of the first note, and which acknowledges batches late.
private final class LateAcknowledgements: ChangeTrackingDataSource {
  let base: RepositoryDataSource<Note>
  private let clock: TestClock
  private let offline = Atomic(false)

  var isOffline: Bool {
    get { offline.load(ordering: .sequentiallyConsistent) }
    set { offline.store(newValue, ordering: .sequentiallyConsistent) }
  }

  init(_ base: RepositoryDataSource<Note>, _ clock: TestClock) { (self.base, self.clock) = (base, clock) }

  func changes(since checkpoint: DataSourceCheckpoint?, limit: Int?) async throws(PersistenceError)
    -> ObjectChanges<Note>
  {
    ObjectChanges(
      saved: try await base.find(1).map { [$0] } ?? [], checkpoint: DataSourceCheckpoint("1"))
  }

  func changeEvents(since checkpoint: DataSourceCheckpoint?) -> DataSourceStream<ObjectChanges<Note>> {
    DataSourceStream { { () async throws(PersistenceError) in nil } }
  }

  func apply(_ batch: ChangeBatch<Note>) async throws(PersistenceError) -> Bool {
    let isNew = try await base.apply(batch)
    do { try await clock.sleep(for: .seconds(1)) } catch { throw LayerTestBed.gone }
    return isNew
  }

  func insert(_ object: Note) async throws(PersistenceError) -> Note { try await base.insert(object) }
  func update(_ object: Note) async throws(PersistenceError) -> Note { try await base.update(object) }
  func update(_ object: Note, replacing old: Note) async throws(PersistenceError) -> Note {
    try await base.update(object, replacing: old)
  }
  func save(_ object: Note) async throws(PersistenceError) -> Note { try await base.save(object) }
  func delete(_ object: Note) async throws(PersistenceError) -> Note? { try await base.delete(object) }
  func find(_ key: Int) async throws(PersistenceError) -> Note? {
    if isOffline { throw LayerTestBed.gone }
    return try await base.find(key)
  }
  func count(_ query: FetchOptions<Note>) async throws(PersistenceError) -> Int {
    try await base.count(query)
  }
  func execute(_ query: FetchOptions<Note>) async throws(PersistenceError) -> [Note] {
    if isOffline { throw LayerTestBed.gone }
    return try await base.execute(query)
  }
}
