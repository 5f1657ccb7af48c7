import DataAccess
import DataAccessCombine
import PersistenceCore
import PersistenceDriverSupport
import Synchronization
import TestSupport
import Testing

#if canImport(Combine)
  import Combine
#elseif canImport(OpenCombine)
  import OpenCombine
#endif

/// A record with a number.
private struct Word: PersistentRecord {
  var id: Int
  static let schema = RecordSchema<Word>("Word", fields: [.field("id", \.id)], key: [\.id])
  var primaryKey: Int { id }
  init(_ id: Int) { self.id = id }
  init(from row: borrowing Row) throws { id = try row.decode(at: 0) }
  func encode(into row: RowBuffer) throws { row.encode(id, at: 0) }
}

/// A subscriber that demands on request and records what it receives.
private final class Probe<Input: Sendable, Failure: Error>: Subscriber, Sendable {
  private struct State: @unchecked Sendable {  // the mutex guards it
    var subscription: (any Subscription)?
    var received: [Input] = []
    var completion: Subscribers.Completion<Failure>?
  }
  private let state: Mutex<State>
  init() {
    let state = State()
    self.state = Mutex(state)
  }

  func receive(subscription: any Subscription) {
    let unchecked = UncheckedSubscription(subscription: subscription)
    state.withLock { $0.subscription = unchecked.subscription }
  }
  func receive(_ input: Input) -> Subscribers.Demand {
    state.withLock { $0.received.append(input) }
    return .none
  }
  func receive(completion: Subscribers.Completion<Failure>) {
    state.withLock { $0.completion = completion }
  }

  var count: Int { state.withLock(\.received.count) }
  var received: [Input] { state.withLock(\.received) }
  var isComplete: Bool { state.withLock { $0.completion != nil } }
  func demand(_ demand: Subscribers.Demand) { subscription?.request(demand) }
  func cancel() { subscription?.cancel() }

  private var subscription: (any Subscription)? {
    var found: UncheckedSubscription?
    state.withLock { found = $0.subscription.map { UncheckedSubscription(subscription: $0) } }
    return found?.subscription
  }
}

private struct UncheckedSubscription: @unchecked Sendable {  // a mutex hands it over
  let subscription: any Subscription
}

@Suite("Publishers", .timeLimit(.minutes(1)))
struct PublisherTests {
  @Test("the publisher requests no more than is demanded, and completes")
  func demand() async throws {
    let box = Box(asked: 0)
    let publisher = SequencePublisher<Int, Never> {
      { @Sendable in
        let number = box.next()
        return number <= 5 ? number : nil
      }
    }
    let probe = Probe<Int, Never>()
    publisher.subscribe(probe)
    for _ in 0..<100 { await Task.yield() }
    #expect(box.asked == 0)
    probe.demand(.max(2))
    try await until { probe.count == 2 }
    for _ in 0..<1000 { await Task.yield() }
    #expect(probe.received == [1, 2])
    #expect(box.asked == 2)
    probe.demand(.max(1))
    probe.demand(.max(1))
    try await until { probe.count == 4 }
    #expect(box.asked == 4)
    probe.demand(.unlimited)
    try await until { probe.isComplete }
    #expect(probe.received == [1, 2, 3, 4, 5])
  }

  @Test("a publisher sends states and updates, and cancelling releases the observer")
  func updates() async throws {
    let context = MemoryContext()
    let repository = Repository(context)
    let probe = Probe<LoadingState<RecordUpdate<Word>>, Never>()
    repository.updates(of: Word.self).states.publisher().subscribe(probe)
    probe.demand(.unlimited)
    try await until { probe.count == 2 }
    try repository.save(Word(1))
    try await until { probe.count == 3 }
    #expect(probe.received.map(\.isLoading) == [true, false, false])
    #expect(probe.received.last?.value?.results.map(\.id) == [1])
    #expect(context.observers.isObserved)
    probe.cancel()
    try await until { !context.observers.isObserved }
    try repository.save(Word(2))
    #expect(probe.count == 3)
    #expect(!probe.isComplete)
  }

  @Test("a late demand gets the newest state with coalesced changes")
  func pressure() async throws {
    let repository = Repository(MemoryContext())
    let probe = Probe<RecordUpdate<Word>, PersistenceError>()
    repository.updates(of: Word.self).publisher().subscribe(probe)
    probe.demand(.max(1))
    try await until { probe.count == 1 }
    for id in 1...100 { try repository.save(Word(id)) }
    #expect(probe.count == 1)
    probe.demand(.max(1))
    try await until { probe.count == 2 }
    #expect(probe.received.last?.changes.keys?.inserted.count == 100)
    probe.cancel()
  }

  @Test("a failure completes the publisher")
  func failure() async throws {
    let context = MemoryContext()
    let repository = Repository(context)
    let probe = Probe<RecordUpdate<Word>, PersistenceError>()
    repository.updates(of: Word.self).publisher().subscribe(probe)
    probe.demand(.unlimited)
    try await until { probe.count == 1 }
    try context.close()
    try await until { probe.isComplete }
    #expect(!context.observers.isObserved)
  }

  @Test("a sink in main-actor code receives on the main actor")
  @MainActor
  func mainActor() async throws {
    let repository = Repository(MemoryContext())
    var received: [Int] = []
    let updates = repository.updates(of: Word.self)
    let sink = updates.publisher().sink { _ in
    } receiveValue: { update in
      MainActor.preconditionIsolated()
      received.append(update.results.count)
    }
    try await until { received.count == 1 }
    try repository.save(Word(1))
    try await until { received.last == 1 }
    sink.cancel()
  }

  @Test(
    "a sink in main-actor code receives there from a publisher that was made elsewhere, and after an operator"
  )
  @MainActor
  func madeElsewhere() async throws {
    let repository = Repository(MemoryContext())
    var received: [Int] = []
    let sink = Self.publisher(repository).map { update in
      MainActor.preconditionIsolated()
      return update.results.count
    }.sink { _ in
    } receiveValue: { count in
      received.append(count)
    }
    try await until { received == [0] }
    sink.cancel()
  }

  fileprivate nonisolated static func publisher(_ repository: any PersistentRepository)
    -> SequencePublisher<RecordUpdate<Word>, PersistenceError>
  {
    repository.updates(of: Word.self).publisher(isolation: nil)
  }

  @Test("a sink in an actor's code receives on that actor, also the completion")
  func otherActor() async throws {
    let context = MemoryContext()
    let collector = Collector()
    try await collector.collect(Repository(context))
    try await until { await collector.count == 1 }
    try context.close()
    try await until { await collector.isComplete }
  }

  @Test(
    "a sink in the code of a global actor receives there, wherever the publisher was made",
    arguments: [true, false])
  func globalActor(isMadeElsewhere: Bool) async throws {
    let context = MemoryContext()
    let shelf = await Shelf()
    await shelf.collect(Repository(context), isMadeElsewhere: isMadeElsewhere)
    try await until { await shelf.counts == [0] }
    try context.close()
    try await until { await shelf.isComplete }
  }

  @Test("pages are read on demand")
  func pages() async throws {
    let source = try RepositoryDataSource<Word>.inMemory((1...10).map(Word.init))
    let probe = Probe<[Word], PersistenceError>()
    source.filter().pages(of: 4).publisher().subscribe(probe)
    probe.demand(.max(1))
    try await until { probe.count == 1 }
    #expect(probe.received.map(\.count) == [4])
    probe.demand(.unlimited)
    try await until { probe.isComplete }
    #expect(probe.received.map(\.count) == [4, 4, 2])
  }
}

/// An actor that sinks updates into its own state.
private actor Collector {
  private(set) var count = 0
  private(set) var isComplete = false
  private var sink: AnyCancellable?

  func collect(_ repository: any PersistentRepository) throws {
    sink = repository.updates(of: Word.self).publisher().sink { _ in
      self.preconditionIsolated()
      self.isComplete = true
    } receiveValue: { _ in
      self.preconditionIsolated()
      self.count += 1
    }
  }
}

@globalActor
private actor Library {
  static let shared = Library()
}

@Library
private final class Shelf {
  private(set) var counts: [Int] = []
  private(set) var isComplete = false
  private var sink: AnyCancellable?

  func collect(_ repository: any PersistentRepository, isMadeElsewhere: Bool) {
    let publisher =
      isMadeElsewhere
      ? PublisherTests.publisher(repository) : repository.updates(of: Word.self).publisher()
    sink = publisher.sink { _ in
      Library.shared.preconditionIsolated()
      self.isComplete = true
    } receiveValue: { update in
      Library.shared.preconditionIsolated()
      self.counts.append(update.results.count)
    }
  }
}

/// A counter of requests.
private final class Box: Sendable {
  private let count: Mutex<Int>
  init(asked: Int) { count = Mutex(asked) }
  var asked: Int { count.withLock(\.self) }
  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
