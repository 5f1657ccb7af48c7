import DataAccess
import DataAccessTesting
import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing

/// The local store holds key 1 as "old", the server as "NEW".
///
/// While the answer to a query for everything travels, an insertion of key 1 fails.
@Suite("A1 an insertion that fails during a query never makes an earlier state whole")
struct RefusedInsertTests {
  enum Failure: Sendable, CaseIterable {
    case duplicateKey, conflict, uniqueViolation, unauthorized, cancelled, cancelledBeforeSending

    /// The remote layer's error; nil if it gets no call.
    var code: PersistenceError.Code? {
      switch self {
      case .duplicateKey: .duplicateKey
      case .conflict: .conflict
      case .uniqueViolation: .uniqueViolation
      case .unauthorized: .unauthorized
      case .cancelled: .cancelled
      case .cancelledBeforeSending: nil
      }
    }

    /// Whether the remote layer's answer says that the object is as before, so that the query's answer must be whole.
    ///
    /// A cancelled insertion has no such answer.
    var isClear: Bool { [.uniqueViolation, .unauthorized].contains(self) }
  }

  private static let truth = [Note(1, "NEW"), Note(2, "server")]

  @Test("offline, and also after a restart", arguments: ContextUnderTest.ours, Failure.allCases)
  func insertion(context: ContextUnderTest, failure: Failure) async throws {
    let store = try context.makeStore()
    let (clock, cancels) = (TestClock(), CancelsOnce())
    let remote = try ScriptedDataSource([Note(1, "old")], clock: clock)
    let late = LateAnswers(remote, clock)
    var options = LayerTestBed.options(clock)
    (options.remote.timeout, options.local.timeout) = (nil, nil)
    options.now = {
      cancels.cancelIfAsked()
      return clock.date
    }
    let repository = try store.open()
    let source = try LayeredDataSource(
      local: repository.dataSource(of: Note.self), remote: late, options: options)
    #expect(try await source.execute(everyNote) == [Note(1, "old")])
    clock.advance(by: .seconds(100))
    try await remote.save(Note(1, "NEW"))
    try await remote.insert(Note(2, "server"))

    late.delay(.seconds(1))
    let query = Task { try await source.execute(everyNote) }
    await clock.sleepers(1)
    if let code = failure.code { remote.script(.failure(PersistenceError(code, "no")), for: .insert) }
    let calls = remote.calls.count
    let insertion = Task {
      // The next look at the date follows the first check of cancellation.
      if failure == .cancelledBeforeSending { cancels.ask() }
      try await source.insert(Note(1, "mine"))
    }
    let error = await #expect(throws: PersistenceError.self) { try await insertion.value }
    #expect(error?.code == failure.code ?? .cancelled)
    #expect(remote.calls.count == calls + (failure.code == nil ? 0 : 1))
    clock.advance(by: .seconds(1))
    #expect(try await query.value == Self.truth)

    remote.answerOtherwise(.failure(LayerTestBed.gone))
    await check(source, failure)
    try repository.close()
    // A store in memory begins anew, and then knows nothing.
    let reopened = try store.open()
    let later = try LayeredDataSource(
      local: reopened.dataSource(of: Note.self), remote: late, options: options)
    await check(later, failure, isEmpty: context.name == "memory")
    try reopened.close()
  }

  private func check(_ source: LayeredDataSource<Note>, _ failure: Failure, isEmpty: Bool = false) async {
    for strategy in [RetrievalStrategy.upToDateWithFallback, .fastestAvailable] {
      let answer = try? await source.answer(to: everyNote, strategy: strategy)
      if failure.isClear, !isEmpty {
        #expect(answer?.isComplete == true && answer?.value == Self.truth)
      } else if let answer {
        #expect(!answer.isComplete || answer.value == Self.truth, "\(answer)")
      }
      let found = try? await source.answer(for: 1, strategy: strategy)
      if let found { #expect(!found.isComplete || found.value == Self.truth[0], "\(found)") }
    }
  }
}
