import DataAccess
import DataAccessTesting
import PersistenceCore
import Testing

@Suite("Reads of a remote layer that hangs")
struct RevalidationTests {
  private let notes = (0..<3).map { Note($0, "old") }

  /// Layers without timeouts: only the delays of the strategy and of scripted answers sleep.
  private func bed() throws -> LayerTestBed {
    try LayerTestBed(notes) {
      ($0.remote, $0.local, $0.cache) = (LayerLimits(), LayerLimits(), LayerLimits())
    }
  }

  @Test("a lower layer answers after the delay, and the late remote answer refreshes it")
  func late() async throws {
    let bed = try bed()
    _ = try await bed.source.execute(everyNote)
    try await bed.remote.save(Note(1, "new"))
    bed.remote.script(.genuine.after(.seconds(4)), for: .execute)
    let refreshes = bed.local.calls.count { $0.operation == .apply }
    let task = Task { try await bed.source.answer(to: everyNote, strategy: .staleWhileRevalidate) }
    await bed.clock.sleepers(2)
    bed.clock.advance(by: .milliseconds(300))
    let answer = try await task.value
    #expect(answer.source == .local && answer.value == notes && answer.isComplete)
    bed.clock.advance(by: .seconds(4))
    await bed.local.calls { calls in
      calls.count { $0.operation == .apply && $0.outcome == .answered } > refreshes
    }
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    #expect(try await bed.source.answer(to: everyNote).value[1].text == "new")
  }

  @Test("the remote answer is awaited if no lower layer has one, and used if it is in time")
  func unknown() async throws {
    let bed = try bed()
    bed.remote.script(.genuine.after(.seconds(4)), for: .execute)
    let task = Task { try await bed.source.answer(to: everyNote, strategy: .staleWhileRevalidate) }
    await bed.clock.sleepers(2)
    bed.clock.advance(by: .milliseconds(300))
    bed.clock.advance(by: .seconds(4))
    // The lower layers knew nothing. A reader that the system delays finds the remote answer in one of them.
    let answer = try await task.value
    #expect(answer.value == notes && answer.isComplete && answer.age == .zero && bed.reads(.remote) == 1)
    #expect(try await bed.source.answer(to: everyNote, strategy: .staleWhileRevalidate).isUpToDate)
  }

  @Test("reads do not call a remote layer that was out of reach, until its pause is over")
  func pause() async throws {
    let bed = try LayerTestBed(notes) { $0.remote = LayerLimits(pause: .seconds(60)) }
    _ = try await bed.source.execute(everyNote)
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    #expect(try await bed.source.answer(to: everyNote).source == .local)
    let calls = bed.remote.calls.count
    bed.clock.advance(by: .seconds(59))
    let answer = try await bed.source.answer(to: everyNote)
    #expect(answer.source == .local && answer.failures.map(\.error.code) == [.unreachable])
    #expect(bed.remote.calls.count == calls)
    bed.remote.answerOtherwise(.genuine)
    bed.clock.advance(by: .seconds(1))
    #expect(try await bed.source.answer(to: everyNote).isUpToDate)
  }

  @Test("a paused remote layer is called if no lower layer has an answer")
  func lastResort() async throws {
    let bed = try LayerTestBed(notes) { $0.remote = LayerLimits(pause: .seconds(60)) }
    bed.remote.script(.failure(LayerTestBed.gone), for: .execute)
    await #expect(throws: PersistenceError.self) { try await bed.source.execute(everyNote) }
    #expect(try await bed.source.answer(to: everyNote).isUpToDate)
    #expect(bed.remote.calls.count == 2)
  }
}
