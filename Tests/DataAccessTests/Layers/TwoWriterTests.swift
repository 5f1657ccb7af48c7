import DataAccess
import DataAccessTesting
import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing

/// Two layered data sources that write to one local store, like two processes.
@Suite("Two writers of one local store")
struct TwoWriterTests {
  private let clock = TestClock()

  private func source(
    _ repository: Repository, _ remote: any DataSource<Note>
  ) throws -> LayeredDataSource<Note> {
    var options = LayerTestBed.options(clock)
    (options.cache, options.local, options.remote) = (LayerLimits(), LayerLimits(), LayerLimits())
    return try LayeredDataSource(
      local: repository.dataSource(of: Note.self), remote: remote, options: options)
  }

  /// Starts a write that the remote layer makes, and whose answer is on its way.
  private func begin(
    _ write: @escaping @Sendable () async throws -> Void, _ events: LayerEvents
  ) async throws -> (task: Task<Void, any Error>, call: SteppedCall) {
    let task = Task { try await write() }
    guard case .call(let call) = await events.next() else { throw LayerTestBed.broken }
    await call.execute()
    return (task, call)
  }

  @Test(
    "A1 the first of two writes does not become current when its answer arrives last",
    arguments: ContextUnderTest.ours, [false, true])
  func order(context: ContextUnderTest, isDeletion: Bool) async throws {
    let repository = try context.makeStore().open()
    let base = try ScriptedDataSource([Note(1, "old"), Note(2)], clock: clock)
    let events = LayerEvents()
    let stepped = SteppedDataSource(base, events: events)
    let (first, second) = (try source(repository, stepped), try source(repository, base))
    for source in [first, second] { _ = try await source.execute(everyNote) }
    stepped.mode = .stepped
    let (task, call) = try await begin({ try await first.save(Note(1, "first")) }, events)
    if isDeletion {
      try await second.delete(Note(1))
    } else {
      try await second.save(Note(1, "second"))
    }
    call.deliver(nil)
    try await task.value
    stepped.mode = .offline
    base.answerOtherwise(.failure(LayerTestBed.gone))
    for source in [first, second] {
      await #expect(throws: PersistenceError.self) { try await source.find(1) }
      #expect(try await source.answer(to: everyNote).isComplete == false)
      #expect(try await source.find(2) == Note(2))
    }
    // The next answer says which was the last.
    base.answerOtherwise(.genuine)
    let expected = isDeletion ? nil : Note(1, "second")
    #expect(try await second.find(1) == expected)
    base.answerOtherwise(.failure(LayerTestBed.gone))
    for source in [first, second] { #expect(try await source.find(1) == expected) }
    try repository.close()
  }

  @Test("a write whose key the server assigns is current, also in a store that others have written")
  func assignedKey() async throws {
    let repository = Repository(MemoryContext())
    let base = try ScriptedDataSource([Note(1)], clock: clock)
    for _ in 0..<2 { _ = try await source(repository, base).execute(everyNote) }
    let source = try source(repository, LateAnswers(base, clock) { Note($0.id + 100, $0.text) })
    #expect(try await source.insert(Note(50)).id == 150)
    base.answerOtherwise(.failure(LayerTestBed.gone))
    #expect(try await source.find(150) == Note(150))
    #expect(try await source.execute(everyNote) == [Note(1), Note(150)])
  }
}
