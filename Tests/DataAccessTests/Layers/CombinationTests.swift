import DataAccess
import DataAccessTesting
import PersistenceCore
import Testing

/// Every way in which three layers can fail, together.
@Suite("Every failure combination of three layers")
struct CombinationTests {
  enum State: String, CaseIterable, Sendable {
    case good, empty, failing, hanging
  }

  private static let notes = [Note(1, "a"), Note(2, "b")]

  static let combinations = State.allCases.flatMap { cache in
    State.allCases.flatMap { local in
      [State.good, .failing, .hanging].map { remote in [cache, local, remote] }
    }
  }

  /// Three layers in a state each: filled by an earlier answer, or not.
  private func bench(_ states: [State]) async throws -> LayerBench {
    let bench = try LayerBench(Self.notes) { options in
      // Only what hangs runs out of time, however slow the machine is.
      if states[0] != .hanging { options.cache.timeout = nil }
      if states[1] != .hanging { options.local.timeout = nil }
      if states[2] != .hanging { options.remote.timeout = nil }
    }
    for (layer, state) in zip([DataSourceLayer.cache, .local], states) where state == .empty {
      // A refresh that fails leaves the layer without knowledge.
      bench.layer(layer).script(.failure(LayerBench.broken), for: .apply)
    }
    _ = try await bench.store.answer(to: everyNote)
    for (layer, state) in zip(DataSourceLayer.allCases, states) {
      switch state {
      case .good, .empty: break
      case .failing: bench.layer(layer).answerOtherwise(.failure(LayerBench.gone))
      case .hanging: bench.layer(layer).answerOtherwise(.hangs)
      }
    }
    bench.clock.advance(by: .seconds(100))
    return bench
  }

  /// Lets time pass until a task has ended.
  private func passing<Value: Sendable>(
    _ bench: LayerBench, _ body: @escaping @Sendable () async throws -> Value
  ) async -> Result<Value, any Error> {
    let time = Task {
      while !Task.isCancelled {
        await bench.clock.sleepers(1)
        bench.clock.advance(by: .seconds(1))
        await Task.yield()
      }
    }
    let task = Task { try await body() }
    let result = await task.result
    time.cancel()
    // Wakes the task that waits for sleepers, so that it sees that it is over.
    let wake = Task { try await bench.clock.sleep(for: .seconds(1 << 20)) }
    await time.value
    wake.cancel()
    return result
  }

  @Test("reads, by every strategy", arguments: combinations, RetrievalStrategy.allCases)
  func reads(states: [State], strategy: RetrievalStrategy) async throws {
    let bench = try await bench(states)
    let result = await passing(bench) { try await bench.store.answer(to: everyNote, strategy: strategy) }
    let good = zip(DataSourceLayer.allCases, states).filter { $1 == .good }.map(\.0)
    if good.isEmpty {
      // No layer holds anything of it either: the empty ones were never filled.
      let error = #expect(throws: PersistenceError.self) { try result.get() }
      #expect(error?.code == (states[2] == .hanging ? .timedOut : .unreachable))
      #expect(error?.message.contains("no layer could answer") == true)
      return
    }
    let answer = try result.get()
    #expect(answer.value == Self.notes && answer.isComplete && good.contains(answer.source))
    if strategy != .fastestAvailable {
      let wanted: DataSourceLayer = good.contains(.remote) ? .remote : good.contains(.local) ? .local : .cache
      #expect(answer.source == wanted)
    }
    if answer.source == .remote {
      #expect(answer.age == .zero)
    } else {
      #expect((answer.age ?? .zero) >= .seconds(100))
    }
  }

  @Test("several answers: only better ones, and the remote store's error at the end", arguments: combinations)
  func several(states: [State]) async throws {
    let bench = try await bench(states)
    let result = await passing(bench) { () -> ([DataSourceLayer], PersistenceError?) in
      var sources: [DataSourceLayer] = []
      do {
        for try await answer in bench.store.answers(to: everyNote) {
          #expect(answer.value == Self.notes && answer.isComplete)
          sources.append(answer.source)
        }
        return (sources, nil)
      } catch {
        return (sources, error as? PersistenceError)
      }
    }
    let (sources, error) = try result.get()
    // All layers hold the same, so that one answer comes.
    #expect(sources.count == (states.contains(.good) ? 1 : 0))
    switch states[2] {
    case .good: #expect(error == nil)
    case .hanging: #expect(error?.code == .timedOut)
    case .failing, .empty: #expect(error?.code == .unreachable)
    }
  }

  @Test("writes: done above or not at all, and what failed below is not relied upon", arguments: combinations)
  func writes(states: [State]) async throws {
    let bench = try await bench(states)
    let changed = Note(1, "changed")
    let result = await passing(bench) { try await bench.store.save(changed) }
    for layer in DataSourceLayer.allCases { bench.layer(layer).answerOtherwise(.genuine) }
    let failed = zip([DataSourceLayer.cache, .local], states).filter { [.failing, .hanging].contains($1) }
      .map(\.0)
    if states[2] != .good {
      let error = #expect(throws: PersistenceError.self) { try result.get() }
      #expect(error?.code == (states[2] == .hanging ? .timedOut : .unreachable))
      for layer in DataSourceLayer.allCases { #expect(try await bench.layer(layer).find(1) != changed) }
      // Whether it was done is not known, so that nothing below is relied upon.
      bench.remote.answerOtherwise(.failure(LayerBench.gone))
      await #expect(throws: PersistenceError.self) { try await bench.store.find(1) }
      #expect((try? await bench.store.answer(to: everyNote))?.isComplete != true)
    } else if failed.isEmpty {
      #expect(try result.get() == changed)
      bench.remote.answerOtherwise(.failure(LayerBench.gone))
      #expect(try await bench.store.find(1) == changed)
    } else {
      let error = #expect(throws: PersistenceError.self) { try result.get() }
      #expect(error?.code == .incompleteWrite)
      for layer in failed { #expect(error?.message.contains(layer.rawValue) == true) }
      #expect(try await bench.remote.find(1) == changed)
      bench.remote.answerOtherwise(.failure(LayerBench.gone))
      for layer in failed { #expect(try await bench.layer(layer).find(1) != changed) }
      let found = try? await bench.store.find(1)
      #expect(failed.count == 2 ? found == nil : found == changed)
    }
    // An answer of the remote store makes all of them good again.
    bench.remote.answerOtherwise(.genuine)
    let truth = try await bench.store.execute(everyNote)
    bench.remote.answerOtherwise(.failure(LayerBench.gone))
    #expect(try await bench.store.execute(everyNote) == truth)
    #expect(try await bench.local.execute(everyNote) == truth)
    #expect(try await bench.cache.execute(everyNote) == truth)
  }
}
