import DataAccess
import DataAccessTesting
import Foundation
import PersistenceCore
import Testing

/// A device whose clock is set while layers hold data.
@Suite("Ages after the clock was set")
struct ClockChangeTests {
  private static let day = Duration.seconds(86_400)
  private static let changes = [Duration.seconds(-86_400), .seconds(-50), .seconds(-1), day]
  private static let old = [Note(1, "old")]

  @Test("a cache of one second serves for one second, whichever way the clock is set", arguments: changes)
  func cache(change: Duration) async throws {
    let clock = TestClock()
    let cache = CacheDataSource<Note>(.init(age: .seconds(1)), clock: clock, now: { clock.date })
    let remote = try ScriptedDataSource(Self.old, clock: clock)
    var options = LayerTestBed.options(clock)
    options.strategy = .fastestAvailable
    let source = try LayeredDataSource(cache: cache, remote: remote, options: options)
    _ = try await source.execute(everyNote)
    #expect(try await source.answer(to: everyNote).source == .cache)
    try await remote.save(Note(1, "new"))
    clock.changeDate(by: change)
    clock.advance(by: .seconds(2))
    let answer = try await source.answer(to: everyNote)
    #expect(answer.source == .remote && answer.value == [Note(1, "new")])
    #expect(try await source.find(1)?.text == "new")
    // The new answer counts again.
    #expect(try await source.answer(to: everyNote).source == .cache)
    clock.advance(by: .seconds(2))
    #expect(cache.objectCount == 1)
    #expect(try await source.answer(to: everyNote).source == .remote)
  }

  @Test("a cache keeps no object of a date far in its future, as of another clock")
  func otherClock() async throws {
    let clock = TestClock()
    let ahead = TestClock(beginning: clock.date.addingTimeInterval(86_400))
    let cache = CacheDataSource<Note>(.init(age: .seconds(1)), clock: clock, now: { clock.date })
    let remote = try ScriptedDataSource(Self.old, clock: clock)
    let source = try LayeredDataSource(cache: cache, remote: remote, options: LayerTestBed.options(ahead))
    _ = try await source.execute(everyNote)
    _ = try await cache.find(1)
    #expect(cache.objectCount == 0)
  }

  /// Layers over a store that survives them.
  private func layers(
    _ repository: Repository, _ remote: ScriptedDataSource<Note>, _ clock: TestClock
  ) throws -> LayeredDataSource<Note> {
    var options = LayerTestBed.options(clock)
    options.strategy = .fastestAvailable
    (options.local.maximumAge, options.local.timeout, options.remote.timeout) = (.seconds(60), nil, nil)
    return try LayeredDataSource(
      local: repository.dataSource(of: Note.self), remote: remote, options: options)
  }

  /// Whether an age is a duration, up to the precision of dates.
  private func isNear(_ age: Duration?, _ wanted: Duration) -> Bool {
    age.map { abs(($0 - wanted) / .seconds(1)) < 0.001 } ?? false
  }

  @Test("the age of a local answer is never less than the time that has passed", arguments: changes)
  func age(change: Duration) async throws {
    let clock = TestClock()
    let remote = try ScriptedDataSource(Self.old, clock: clock)
    let source = try layers(Repository(MemoryContext()), remote, clock)
    _ = try await source.answer(to: everyNote, strategy: .upToDateWithFallback)
    _ = try await source.answer(for: 7, strategy: .upToDateWithFallback)
    clock.advance(by: .seconds(55))
    clock.changeDate(by: change)
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    let wanted = .seconds(55) + max(change, .zero)
    #expect(isNear(try await source.answer(to: everyNote).age, wanted))
    #expect(isNear(try await source.answer(for: 7).age, wanted))
    clock.advance(by: .seconds(10))
    // It is too old now, so the remote layer is asked.
    let calls = remote.calls.count
    #expect(isNear(try await source.answer(to: everyNote).age, wanted + .seconds(10)))
    #expect(remote.calls.count > calls)
  }

  @Test("after a restart, a part with a date in the future has no age, also when the clock reaches the date")
  func restart() async throws {
    let clock = TestClock()
    let repository = Repository(MemoryContext())
    let remote = try ScriptedDataSource(Self.old, clock: clock)
    do {
      let source = try layers(repository, remote, clock)
      _ = try await source.answer(to: everyNote, strategy: .upToDateWithFallback)
      _ = try await source.answer(for: 7, strategy: .upToDateWithFallback)
    }
    clock.changeDate(by: .zero - Self.day)
    let source = try layers(repository, remote, clock)
    for _ in 0..<2 {
      remote.answerOtherwise(.failure(LayerTestBed.gone))
      let calls = remote.calls.count
      let answer = try await source.answer(to: everyNote)
      #expect(answer.value == Self.old && answer.isComplete && answer.age == nil)
      #expect(try await source.answer(for: 7).age == nil)
      // No age is good, so the remote layer is asked first.
      #expect(remote.calls.count == calls + 2)
      clock.advance(by: Self.day + .seconds(1))
    }
    remote.answerOtherwise(.genuine)
    _ = try await source.answer(to: everyNote)
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    clock.advance(by: .seconds(5))
    #expect(try await source.answer(to: everyNote).age == .seconds(5))
  }

  @Test("after a restart with a clock that was set forward, a part is as old as its date says")
  func restartForward() async throws {
    let clock = TestClock()
    let repository = Repository(MemoryContext())
    let remote = try ScriptedDataSource(Self.old, clock: clock)
    do { _ = try await layers(repository, remote, clock).answer(to: everyNote) }
    clock.changeDate(by: Self.day)
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    #expect(isNear(try await layers(repository, remote, clock).answer(to: everyNote).age, Self.day))
  }

  @Test("the pause of a remote layer ends, whichever way the clock is set", arguments: changes)
  func pause(change: Duration) async throws {
    let bed = try LayerTestBed(Self.old) { $0.remote = LayerLimits(pause: .seconds(60)) }
    _ = try await bed.source.execute(everyNote)
    bed.remote.script(.failure(LayerTestBed.gone), for: .execute)
    #expect(try await bed.source.answer(to: everyNote).source == .local)
    bed.clock.changeDate(by: change)
    bed.clock.advance(by: .seconds(60))
    #expect(try await bed.source.answer(to: everyNote).isUpToDate)
  }
}
