import DataAccess
import DataAccessTesting
import PersistenceCore
import Testing

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

  /// Three layers in given states, filled by an earlier answer or not.
  private func bed(_ states: [State]) async throws -> LayerTestBed {
    let bed = try LayerTestBed(Self.notes) { options in
      // Only a hanging call reaches the timeout, even on a slow machine.
      if states[0] != .hanging { options.cache.timeout = nil }
      if states[1] != .hanging { options.local.timeout = nil }
      if states[2] != .hanging { options.remote.timeout = nil }
    }
    for (layer, state) in zip([DataSourceLayer.cache, .local], states) where state == .empty {
      // A failed refresh leaves the layer without coverage.
      bed.layer(layer).script(.failure(LayerTestBed.broken), for: .apply)
    }
    _ = try await bed.source.answer(to: everyNote)
    for (layer, state) in zip(DataSourceLayer.allCases, states) {
      switch state {
      case .good, .empty: break
      case .failing: bed.layer(layer).answerOtherwise(.failure(LayerTestBed.gone))
      case .hanging: bed.layer(layer).answerOtherwise(.hangs)
      }
    }
    bed.clock.advance(by: .seconds(100))
    return bed
  }

  /// Advances the clock until a task ends.
  private func passing<Value: Sendable>(
    _ bed: LayerTestBed, _ body: @escaping @Sendable () async throws -> Value
  ) async -> Result<Value, any Error> {
    let time = Task {
      while !Task.isCancelled {
        await bed.clock.sleepers(1)
        bed.clock.advance(by: .seconds(1))
        await Task.yield()
      }
    }
    let task = Task { try await body() }
    let result = await task.result
    time.cancel()
    // Wakes the task that waits for sleepers, so that it can end.
    let wake = Task { try await bed.clock.sleep(for: .seconds(1 << 20)) }
    await time.value
    wake.cancel()
    return result
  }

  @Test("reads, with every strategy", arguments: combinations, RetrievalStrategy.allCases)
  func reads(states: [State], strategy: RetrievalStrategy) async throws {
    let bed = try await bed(states)
    let result = await passing(bed) { try await bed.source.answer(to: everyNote, strategy: strategy) }
    let good = zip(DataSourceLayer.allCases, states).filter { $1 == .good }.map(\.0)
    if good.isEmpty {
      // No layer holds a part of the answer, since the failed ones were never filled.
      let error = #expect(throws: PersistenceError.self) { try result.get() }
      #expect(error?.code == (states[2] == .hanging ? .timedOut : .unreachable))
      #expect(error?.message.contains("no layer could answer") == true)
      return
    }
    let answer = try result.get()
    #expect(answer.value == Self.notes && answer.isComplete)
    // While a late remote layer answers, it may refresh the layer that answers instead.
    #expect(
      good.contains(answer.source) || strategy == .staleWhileRevalidate && good.contains(.remote))
    if ![.fastestAvailable, .staleWhileRevalidate].contains(strategy) {
      let wanted: DataSourceLayer = good.contains(.remote) ? .remote : good.contains(.local) ? .local : .cache
      #expect(answer.source == wanted)
    }
    if answer.source == .remote {
      #expect(answer.age == .zero)
    } else if strategy != .staleWhileRevalidate {
      // The remote answer may have refreshed the layer that answers.
      #expect((answer.age ?? .zero) >= .seconds(100))
    }
  }

  @Test("several answers improve, and end with the remote layer's error", arguments: combinations)
  func several(states: [State]) async throws {
    let bed = try await bed(states)
    let result = await passing(bed) { () -> ([DataSourceLayer], PersistenceError?) in
      var sources: [DataSourceLayer] = []
      do {
        for try await answer in bed.source.answers(to: everyNote) {
          #expect(answer.value == Self.notes && answer.isComplete)
          sources.append(answer.source)
        }
        return (sources, nil)
      } catch {
        return (sources, error as? PersistenceError)
      }
    }
    let (sources, error) = try result.get()
    // All layers hold the same objects, so there is one answer.
    #expect(sources.count == (states.contains(.good) ? 1 : 0))
    switch states[2] {
    case .good: #expect(error == nil)
    case .hanging: #expect(error?.code == .timedOut)
    case .failing, .empty: #expect(error?.code == .unreachable)
    }
  }

  @Test("writes reach the top layer or none, and failed replicas become stale", arguments: combinations)
  func writes(states: [State]) async throws {
    let bed = try await bed(states)
    let changed = Note(1, "changed")
    let result = await passing(bed) { try await bed.source.save(changed) }
    for layer in DataSourceLayer.allCases { bed.layer(layer).answerOtherwise(.genuine) }
    let failed = zip([DataSourceLayer.cache, .local], states).filter { [.failing, .hanging].contains($1) }
      .map(\.0)
    if states[2] != .good {
      let error = #expect(throws: PersistenceError.self) { try result.get() }
      #expect(error?.code == (states[2] == .hanging ? .timedOut : .unreachable))
      for layer in DataSourceLayer.allCases { #expect(try await bed.layer(layer).find(1) != changed) }
      // The outcome is unknown, so all replicas are stale.
      bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
      await #expect(throws: PersistenceError.self) { try await bed.source.find(1) }
      #expect((try? await bed.source.answer(to: everyNote))?.isComplete != true)
    } else if failed.isEmpty {
      #expect(try result.get() == changed)
      bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
      #expect(try await bed.source.find(1) == changed)
    } else {
      let error = #expect(throws: PersistenceError.self) { try result.get() }
      #expect(error?.code == .incompleteWrite)
      for layer in failed { #expect(error?.message.contains(layer.rawValue) == true) }
      #expect(try await bed.remote.find(1) == changed)
      bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
      for layer in failed { #expect(try await bed.layer(layer).find(1) != changed) }
      let found = try? await bed.source.find(1)
      #expect(failed.count == 2 ? found == nil : found == changed)
    }
    // An answer of the remote layer makes all of them current again.
    bed.remote.answerOtherwise(.genuine)
    let truth = try await bed.source.execute(everyNote)
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    #expect(try await bed.source.execute(everyNote) == truth)
    #expect(try await bed.local.execute(everyNote) == truth)
    #expect(try await bed.cache.execute(everyNote) == truth)
  }
}
