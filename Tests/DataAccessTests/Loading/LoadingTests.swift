import DataAccess
import DataAccessTesting
import Foundation
import Observation
import PersistenceCore
import PersistenceDriverSupport
import Synchronization
import TestSupport
import Testing

@Suite("Loading states", .timeLimit(.minutes(1)))
struct LoadingTests {
  @Test("a state keeps the last value while loading and after a failure")
  func kept() {
    let failure = PersistenceError(.unreachable, "no")
    var state = LoadingState<Int>.idle
    #expect(state.value == nil && !state.isLoading && state.error == nil)
    state = state.begun
    #expect(state.isLoading && state.value == nil)
    state = .success(1)
    #expect(state.value == 1)
    state = state.begun
    #expect(state.isLoading && state.value == 1)
    state = state.failed(failure)
    #expect(state.error?.code == .unreachable && state.value == 1 && !state.isLoading)
    #expect(state.map(String.init).value == "1")
    #expect(state.map(String.init).error?.code == .unreachable)
    #expect(state.begun.error == nil)
  }

  @Test("the states of a query are loading, and then its objects or its error")
  func query() async throws {
    let repository = Repository(MemoryContext())
    let source = repository.dataSource(of: Note.self)
    try await source.insert(Note(1))
    var states: [LoadingState<[Note]>] = []
    for await state in source.filter().states { states.append(state) }
    #expect(states.count == 2)
    #expect(states.first?.isLoading == true)
    #expect(states.last?.value == [Note(1)])
    try repository.close()
    states = []
    for await state in source.filter().states { states.append(state) }
    #expect(states.last?.error?.code == .closed)
    #expect(states.count == 2)
  }

  @Test("updates have states, and a failure keeps the last value and ends them")
  func updates() async throws {
    let repository = Repository(MemoryContext())
    var states = repository.dataSource(of: Note.self).updates().states.makeAsyncIterator()
    #expect(await states.next()?.isLoading == true)
    #expect(await states.next()?.value?.results.count == 0)
    try repository.save(Note(1))
    #expect(await states.next()?.value?.changes.keys?.inserted.count == 1)
    try repository.close()
    let last = await states.next()
    #expect(last?.error?.code == .closed)
    #expect(last?.value?.results.map(\.id) == [1])
    #expect(await states.next() == nil)
  }

  @Test("a single value loads once for each iteration, and not before")
  func lazily() async throws {
    let loads = Counter()
    let states = LoadingStates { () async throws(PersistenceError) in loads.next() }
    #expect(loads.count == 0)
    for round in 1...3 {
      var last: Int?
      for await state in states { last = state.value }
      #expect(last == round)
    }
    #expect(loads.count == 3)
  }

  @Test("a model follows the store, and notifies observers of its state")
  @MainActor
  func model() async throws {
    let context = MemoryContext()
    let repository = Repository(context)
    var model: LoadingModel? = LoadingModel(of: repository.updates(of: Note.self).states)
    let changes = Counter()
    #expect(model?.state.isLoading == false)
    withObservationTracking {
      _ = model?.state
    } onChange: {
      _ = changes.next()
    }
    model?.start()
    #expect(changes.count == 1)
    try await until { model?.value != nil }
    for id in 1...3 { try repository.save(Note(id)) }
    try await until { model?.value?.results.count == 3 }
    #expect(context.observers.isObserved)
    model?.stop()
    try await until { !context.observers.isObserved }
    #expect(model?.value?.results.count == 3)
    try repository.save(Note(4))
    model?.reload()
    #expect(model?.state.isLoading == true && model?.value?.results.count == 3)
    try await until { model?.value?.results.count == 4 }
    model = nil
    try await until { !context.observers.isObserved }
  }

  @Test("a model that fails keeps its value, and can load again")
  @MainActor
  func retry() async throws {
    let loads = Counter()
    let model = LoadingModel(
      of: LoadingStates { () async throws(PersistenceError) -> Int in
        let number = loads.next()
        if number == 2 { throw PersistenceError(.unreachable, "away") }
        return number
      })
    model.start()
    await model.finished()
    #expect(model.value == 1)
    model.start()
    await model.finished()
    #expect(model.state.error?.code == .unreachable && model.value == 1)
    model.reload()
    #expect(model.state.isLoading && model.value == 1)
    await model.finished()
    #expect(model.value == 3)
  }

  @Test("waiting for the end of loading includes a reload in between")
  @MainActor
  func waiting() async throws {
    let (loads, ended) = (Counter(), Counter())
    let (gate, opening) = AsyncStream.makeStream(of: Never.self)
    let model = LoadingModel(
      of: LoadingStates { () async throws(PersistenceError) -> Int in
        let number = loads.next()
        if number == 1 { try? await Task.sleep(for: .seconds(3_600)) } else { for await _ in gate {} }
        _ = ended.next()
        return number
      })
    model.start()
    try await until { loads.count == 1 }
    let waits = Counter()
    let waiter = Task { @MainActor in
      _ = waits.next()
      await model.finished()
      return model.state
    }
    try await until { waits.count == 1 }
    model.reload()
    try await until { ended.count == 1 && loads.count == 2 }
    for _ in 0..<100 { await Task.yield() }
    opening.finish()
    let state = await waiter.value
    #expect(state.value == 2 && !state.isLoading)
  }
}

/// A counter.
final class Counter: Sendable {
  private let value = Mutex(0)
  var count: Int { value.withLock(\.self) }
  func next() -> Int {
    value.withLock { value in
      value += 1
      return value
    }
  }
}
