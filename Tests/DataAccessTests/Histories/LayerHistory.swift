import DataAccess
import DataAccessTesting
import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import Synchronization

/// A random history of reads and writes on layers, of which each step is executed alone.
///
/// The seed determines it. Calls of the remote layer execute and answer in steps of their own, so reads, own writes
/// and writes of other devices interleave in every way.
struct LayerHistory {
  enum Layers: String, CaseIterable, Sendable {
    case cache, repository, other, both, twoProcesses, outbox, outboxAndCache, restarted

    var isLocalFirst: Bool { self == .outbox || self == .outboxAndCache }
  }

  struct Operation {
    let number: Int
    let task: Task<Bool, Never>
    let call: SteppedCall
    /// The key of a write; nil for a read.
    let key: Int?
    /// The number of the data source.
    let source: Int
    var executed: Date?
    /// A write of the same key, which waits for this one.
    var follower: Task<Bool, Never>?
  }

  let layers: Layers
  var random: SeededGenerator
  let clock = TestClock()
  let events = LayerEvents()
  let remote: SteppedDataSource
  private let failing: ScriptedDataSource<Note>?
  let cancels = CancelsOnce()
  var sources: [LayeredDataSource<Note>]
  let options: LayerOptions<Note>
  /// The local store; only ``Layers/restarted`` has one that outlives its repository.
  var repository: Repository
  let store: StoreUnderTest?
  var oracle = HistoryOracle()
  var inFlight: [Operation] = []
  var number = 0
  /// The notes of the waiting outbox entries.
  private var waiting: [UUID: [Note]] = [:]
  /// The dates at which the remote layer applied the notes of batches, by their texts.
  private var applied: [String: Date] = [:]
  var claims = 0
  var mistakes: [String] = []
  var steps: [String] = []

  init(_ layers: Layers, seed: UInt64) throws {
    self.layers = layers
    random = SeededGenerator(seed: seed)
    remote = SteppedDataSource(
      try RepositoryDataSource<Note>.inMemory([Note(0, "a"), Note(1, "b", rank: 1)]), events: events)
    var options = LayerOptions<Note>()
    options.clock = clock
    let (clock, cancels) = (clock, cancels)
    options.now = {
      cancels.cancelIfAsked()
      return clock.date
    }
    options.remote = LayerLimits()
    options.writes = layers.isLocalFirst ? .localFirst : .remoteFirst
    // The sender in the background never sends: it waits for its second attempt.
    options.outbox = RetryPolicy(
      attempts: 1 << 20, firstDelay: .seconds(1 << 30), longestDelay: .seconds(1 << 30), jitter: 0)
    store = try layers == .restarted ? ContextUnderTest.ours.first { $0.name == "sqlite" }?.makeStore() : nil
    let repository = try store?.open() ?? Repository(MemoryContext())
    (self.repository, self.options) = (repository, options)
    failing = layers == .other ? try ScriptedDataSource<Note>() : nil
    let cache = CacheDataSource<Note>(clock: clock, now: { clock.date })
    let local: any DataSource<Note> =
      switch layers {
      case .cache: cache
      case .other: failing ?? cache
      default: repository.dataSource(of: Note.self)
      }
    let hasCache = layers == .both || layers == .outboxAndCache
    let (remote, finished) = (remote, options)
    sources = try (0..<(layers == .twoProcesses ? 2 : 1)).map { _ in
      try LayeredDataSource(cache: hasCache ? cache : nil, local: local, remote: remote, options: finished)
    }
  }

  /// The date that the clock of the device would show if nobody had set it.
  var date: Date { Date(timeIntervalSinceReferenceDate: clock.now.offset / .seconds(1)) }

  /// Runs a number of steps, and then checks that the layers agree with the remote one.
  mutating func run(steps count: Int) async throws {
    try await begin()
    for _ in 0..<count where mistakes.isEmpty {
      clock.advance(by: .seconds(1))
      try await step()
      oracle.record(try await remote.base.execute(everyNote), at: date)
      try await acknowledgeSent()
    }
    try await finish()
  }

  private mutating func begin() async throws {
    if layers.isLocalFirst {
      remote.mode = .offline
      try await sources[0].save(Note(4, "first"))
      // The first attempt fails, and the sender sleeps from now on.
      await clock.sleepers(1)
      remote.mode = .direct
      try await sources[0].outbox?.send()
    }
    remote.mode = .stepped
    oracle.record(try await remote.base.execute(everyNote), at: date)
  }

  /// Records the entries that have left the outbox since the last call, except those that were set aside.
  private mutating func acknowledgeSent() async throws {
    guard let outbox = sources[0].outbox else { return }
    let entries = try await outbox.waiting()
    let left = Set(entries.map(\.id)).union(try await outbox.setAside().map(\.id))
    for text in remote.takeApplied() { applied[text] = date }
    for (id, notes) in waiting where !left.contains(id) {
      for note in notes { oracle.acknowledge(note.id, at: applied[note.text] ?? date) }
    }
    waiting = [:]
    for entry in entries { waiting[entry.id] = entry.changes?.map(\.object) ?? [] }
  }

  private mutating func finish() async throws {
    while mistakes.isEmpty, let operation = inFlight.indices.first {
      clock.advance(by: .seconds(1))
      try await end(operation, .none)
    }
    guard mistakes.isEmpty else {
      for operation in inFlight { operation.call.deliver(LayerTestBed.gone) }
      return
    }
    clock.advance(by: .seconds(1))
    remote.mode = .direct
    remote.batches = []
    try await sources[0].outbox?.send()
    let truth = try await remote.base.execute(everyNote)
    oracle.record(truth, at: date)
    for source in sources {
      // Each failure that is scripted for the local layer fails one refresh.
      for _ in 0..<32 {
        if try await source.answer(to: everyNote).failures.isEmpty { break }
      }
      remote.mode = .offline
      let answer = try await source.answer(to: everyNote)
      if !answer.isComplete || answer.value != truth {
        mistakes.append("the last answer is \(answer), but the remote layer holds \(truth)")
      }
      remote.mode = .direct
    }
  }

  // MARK: Steps

  private mutating func step() async throws {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<12: try await changeElsewhere()
    case 12..<30: await beginRead()
    case 30..<48: await beginWrite(isCancelled: Int.random(in: 0..<6, using: &random) == 0)
    case 48..<58: await execute()
    case 58..<75:
      if let index = inFlight.indices.randomElement(using: &random) {
        try await end(index, outcome(of: inFlight[index]))
      }
    case 75..<78:
      failing?.script(
        .failure(LayerTestBed.broken), for: [.apply, .save, .delete].randomElement(using: &random) ?? .apply)
    case 78..<83: try await send()
    case 83..<86: setClock()
    case 86..<88:
      if let index = inFlight.firstIndex(where: { $0.follower != nil }) { await cancelFollower(of: index) }
    case 88..<92 where layers == .restarted: try await restart()
    default: try await check()
    }
  }

  mutating func randomNote() -> Note {
    number += 1
    return Note(
      Int.random(in: 0..<4, using: &random), "n\(number)", rank: Int.random(in: 0..<2, using: &random))
  }

  private mutating func changeElsewhere() async throws {
    let note = randomNote()
    if Int.random(in: 0..<3, using: &random) == 0 {
      steps.append("elsewhere: delete \(note.id)")
      try await remote.base.delete(note)
    } else {
      steps.append("elsewhere: save \(note)")
      try await remote.base.save(note)
    }
  }

  static func query(_ source: LayeredDataSource<Note>, _ kind: Int) -> FetchOptions<Note> {
    switch kind {
    case 0, 1: everyNote
    case 2: source.filter(where: \.rank == 0).options
    case 3: source.filter(where: \.rank == 1).options
    default: source.filter().limit(2).options
    }
  }

  private mutating func execute() async {
    guard let index = inFlight.indices.filter({ inFlight[$0].executed == nil }).randomElement(using: &random)
    else { return }
    steps.append("execute \(inFlight[index].number)")
    await inFlight[index].call.execute()
    inFlight[index].executed = date
  }

  /// A random outcome: nil for the genuine answer.
  mutating func outcome(of operation: Operation) -> PersistenceError? {
    guard Int.random(in: 0..<2, using: &random) == 0 else { return nil }
    // A write that was executed can only lose its answer.
    let codes: [PersistenceError.Code] =
      operation.key == nil || operation.executed != nil
      ? [.unreachable, .cancelled] : [.unauthorized, .uniqueViolation, .conflict, .duplicateKey, .cancelled]
    return PersistenceError(codes.randomElement(using: &random) ?? .unreachable, "scripted")
  }

  mutating func end(_ index: Int, _ error: PersistenceError?) async throws {
    var operation = inFlight.remove(at: index)
    if error == nil, operation.executed == nil {
      await operation.call.execute()
      operation.executed = date
      oracle.record(try await remote.base.execute(everyNote), at: date)
    }
    steps.append("answer \(operation.number) \(error?.code.rawValue ?? "genuine")")
    // A cancellation may also meet an answer that arrives.
    if error?.code == .cancelled || Int.random(in: 0..<6, using: &random) == 0 { operation.task.cancel() }
    operation.call.deliver(error)
    await endEvents(of: operation)
    let isDone = await operation.task.value
    if isDone, error == nil, let key = operation.key, let date = operation.executed {
      oracle.acknowledge(key, at: date)
    }
  }

  private mutating func send() async throws {
    guard let outbox = sources[0].outbox else { return }
    remote.batches = (0..<Int.random(in: 0..<6, using: &random)).map { _ in randomBehavior() }
    steps.append("send \(remote.batches)")
    try? await outbox.send()
    remote.batches = []
  }

  private mutating func randomBehavior() -> BatchRecorder.Behavior {
    let codes: [PersistenceError.Code] = [.unreachable, .uniqueViolation, .unauthorized, .engineFailure]
    let error = PersistenceError(codes.randomElement(using: &random) ?? .unreachable, "scripted")
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return .failure(error)
    case 1: return .lost(LayerTestBed.gone)
    default: return .genuine
    }
  }
}
