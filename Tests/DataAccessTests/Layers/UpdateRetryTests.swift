import DataAccess
import DataAccessTesting
import Foundation
import PersistenceCore
import Testing

@Suite("Updates of layers without an answer")
struct UpdateRetryTests {
  private let clock = TestClock()

  private func source(_ remote: ScriptedDataSource<Note>) throws -> LayeredDataSource<Note> {
    var options = LayerTestBed.options(clock)
    (options.cache, options.local, options.remote) = (LayerLimits(), LayerLimits(), LayerLimits())
    return try LayeredDataSource(
      local: RepositoryDataSource<Note>.inMemory(), remote: remote, options: options)
  }

  private var following: FollowingOptions {
    FollowingOptions(retry: RetryPolicy(firstDelay: .seconds(1), jitter: 0), clock: clock)
  }

  @Test(
    "A2 updates ask again until a layer has an answer", .timeLimit(.minutes(1)),
    arguments: [PersistenceError.Code.unreachable, .timedOut, .busy])
  func retry(code: PersistenceError.Code) async throws {
    let remote = try ScriptedDataSource([Note(1)], clock: clock)
    remote.answerOtherwise(.failure(PersistenceError(code, "not now")))
    let (source, following) = (try source(remote), following)
    let first = Task {
      var iterator = source.updates(following: following).makeAsyncIterator()
      return try await iterator.next()?.objects
    }
    let passing = Task { [clock] in
      while !Task.isCancelled {
        clock.advance(by: .seconds(30))
        await Task.yield()
      }
    }
    defer { passing.cancel() }
    await remote.calls { $0.count { $0.outcome == .failed(code) } >= 4 }
    remote.answerOtherwise(.genuine)
    #expect(try await first.value == [Note(1)])
  }

  @Test("updates end with an error that no later question mends")
  func refused() async throws {
    let remote = try ScriptedDataSource([Note(1)], clock: clock)
    remote.answerOtherwise(.failure(PersistenceError(.unauthorized, "no")))
    var iterator = try source(remote).updates(following: following).makeAsyncIterator()
    let error = await #expect(throws: PersistenceError.self) { try await iterator.next() }
    #expect(error?.code == .unauthorized)
  }
}
