@testable import DataAccess
import DataAccessTesting
import Foundation
import PersistenceCore
import Testing

/// Announcements of writes in a local store that another layered data source opens.
@Suite("Announcements of live and dead writers")
struct LiveWriterTests {
  private let clock = TestClock()

  private func source(
    _ repository: Repository, _ remote: any DataSource<Note>
  ) throws -> LayeredDataSource<Note> {
    var options = LayerTestBed.options(clock)
    (options.cache, options.local, options.remote) = (LayerLimits(), LayerLimits(), LayerLimits())
    return try LayeredDataSource(
      local: repository.dataSource(of: Note.self), remote: remote, options: options)
  }

  @Test("A1 an opening keeps the announcement of a write in flight, until that write ends")
  func inFlight() async throws {
    let repository = Repository(MemoryContext())
    let base = try ScriptedDataSource([Note(1, "old")], clock: clock)
    let events = LayerEvents()
    let stepped = SteppedDataSource(base, events: events)
    stepped.mode = .stepped
    let writer = try source(repository, stepped)
    let write = Task { try await writer.save(Note(1, "new")) }
    guard case .call(let call) = await events.next() else { throw LayerTestBed.broken }
    let opened = try source(repository, base)
    #expect(try await opened.find(1)?.text == "old")
    base.answerOtherwise(.failure(LayerTestBed.gone))
    await #expect(throws: PersistenceError.self) { try await opened.find(1) }
    base.answerOtherwise(.genuine)
    await call.execute()
    call.deliver(nil)
    _ = try await write.value
    #expect(try await opened.find(1)?.text == "new")
    base.answerOtherwise(.failure(LayerTestBed.gone))
    #expect(try await opened.find(1)?.text == "new")
  }

  @Test(
    "A1 an opening removes the announcements of dead writers only",
    arguments: [("!1", true), ("!\(Int32.max)", false), ("!\(LiveWriters.process)", false), ("", false)])
  func processes(suffix: String, isLive: Bool) async throws {
    let repository = Repository(MemoryContext())
    let base = try ScriptedDataSource([Note(1, "old")], clock: clock)
    _ = try await source(repository, base).find(1)
    let part = try HashedName.of(Note(1).recordKey) + "!\(UUID().uuidString)" + suffix
    try repository.save(StaleKeyRecord(model: "Note", part: part, isSettled: false))
    let opened = try source(repository, base)
    base.answerOtherwise(.failure(LayerTestBed.gone))
    await #expect(throws: PersistenceError.self) { try await opened.find(1) }
    base.answerOtherwise(.genuine)
    _ = try await opened.find(1)
    base.answerOtherwise(.failure(LayerTestBed.gone))
    if isLive {
      await #expect(throws: PersistenceError.self) { try await opened.find(1) }
    } else {
      #expect(try await opened.find(1) == Note(1, "old"))
    }
  }
}
