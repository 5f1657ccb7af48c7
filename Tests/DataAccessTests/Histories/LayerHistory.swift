import DataAccess
import DataAccessTesting
import Foundation
import PersistenceConformance
import PersistenceCore
import Synchronization

/// A random history of reads and writes on layers, of which each step is executed alone.
///
/// The seed determines it. Calls of the remote layer execute and answer in steps of their own, so reads, own writes
/// and writes of other devices interleave in every way.
struct LayerHistory {
  enum Layers: String, CaseIterable, Sendable {
    case cache, repository, other, both, twoProcesses, outbox, outboxAndCache

    var isLocalFirst: Bool { self == .outbox || self == .outboxAndCache }
  }

  private struct Operation {
    let number: Int
    let task: Task<Bool, Never>
    let call: SteppedCall
    /// The key of a write; nil for a read.
    let key: Int?
    var executed: Date?
  }

  private let layers: Layers
  private var random: SeededGenerator
  let clock = TestClock()
  private let events = LayerEvents()
  let remote: SteppedDataSource
  private let failing: ScriptedDataSource<Note>?
  private let cancels = CancelsOnce()
  let sources: [LayeredDataSource<Note>]
  var oracle = HistoryOracle()
  private var inFlight: [Operation] = []
  private var number = 0
  /// The keys of the waiting outbox entries.
  private var waiting: [UUID: [Int]] = [:]
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
    let repository = Repository(MemoryContext())
    failing = layers == .other ? try ScriptedDataSource<Note>() : nil
    let cache = CacheDataSource<Note>(now: { clock.date })
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

  /// Runs a number of steps, and then checks that the layers agree with the remote one.
  mutating func run(steps count: Int) async throws {
    try await begin()
    for _ in 0..<count where mistakes.isEmpty {
      clock.advance(by: .seconds(1))
      try await step()
      oracle.record(try await remote.base.execute(everyNote), at: clock.date)
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
    oracle.record(try await remote.base.execute(everyNote), at: clock.date)
  }

  /// Records the entries that have left the outbox since the last call, except those that were set aside.
  private mutating func acknowledgeSent() async throws {
    guard let outbox = sources[0].outbox else { return }
    let entries = try await outbox.waiting()
    let left = Set(entries.map(\.id)).union(try await outbox.setAside().map(\.id))
    for (id, keys) in waiting where !left.contains(id) {
      for key in keys { oracle.acknowledge(key, at: clock.date) }
    }
    waiting = [:]
    for entry in entries { waiting[entry.id] = entry.changes?.map(\.object.id) ?? [] }
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
    remote.batchFailures = []
    try await sources[0].outbox?.send()
    let truth = try await remote.base.execute(everyNote)
    oracle.record(truth, at: clock.date)
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
    case 0..<15: try await changeElsewhere()
    case 15..<35: await beginRead()
    case 35..<55: await beginWrite(isCancelled: Int.random(in: 0..<6, using: &random) == 0)
    case 55..<65: await execute()
    case 65..<82:
      if let index = inFlight.indices.randomElement(using: &random) {
        try await end(index, outcome(of: inFlight[index]))
      }
    case 82..<86:
      failing?.script(
        .failure(LayerTestBed.broken), for: [.apply, .save, .delete].randomElement(using: &random) ?? .apply)
    case 86..<90: try await send()
    default: try await check()
    }
  }

  private mutating func randomNote() -> Note {
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

  private mutating func beginRead() async {
    let source = sources.randomElement(using: &random) ?? sources[0]
    let kind = Int.random(in: 0..<7, using: &random)
    let key = Int.random(in: 0..<4, using: &random)
    steps.append(kind > 4 ? "read \(key)" : "read query \(kind)")
    await begin(key: nil) {
      if kind > 4 {
        _ = try await source.answer(for: key)
      } else {
        _ = try await source.answer(to: Self.query(source, kind))
      }
    }
  }

  private mutating func beginWrite(isCancelled: Bool) async {
    let source = sources.randomElement(using: &random) ?? sources[0]
    let note = randomNote()
    // Writes of one key run one after another.
    guard !inFlight.contains(where: { $0.key == note.id }) else { return }
    let kind = Int.random(in: 0..<5, using: &random)
    steps.append("write \(kind) \(note)\(isCancelled ? ", cancelled" : "")")
    let cancels = cancels
    await begin(key: note.id) {
      // The next look at the date follows the first check of cancellation.
      if isCancelled { cancels.ask() }
      switch kind {
      case 0, 1: try await source.insert(note)
      case 2: try await source.update(note)
      case 3: try await source.delete(note)
      default: try await source.save(note)
      }
    }
  }

  /// Starts an operation, and waits until it calls the remote layer or ends.
  private mutating func begin(key: Int?, _ body: @escaping @Sendable () async throws -> Void) async {
    let events = events
    let task = Task {
      defer { events.send(.ended) }
      do {
        try await body()
        return true
      } catch {
        return false
      }
    }
    guard case .call(let call) = await events.next() else { return }
    number += 1
    inFlight.append(Operation(number: number, task: task, call: call, key: key))
  }

  private mutating func execute() async {
    guard let index = inFlight.indices.filter({ inFlight[$0].executed == nil }).randomElement(using: &random)
    else { return }
    steps.append("execute \(inFlight[index].number)")
    await inFlight[index].call.execute()
    inFlight[index].executed = clock.date
  }

  /// A random outcome: nil for the genuine answer.
  private mutating func outcome(of operation: Operation) -> PersistenceError? {
    guard Int.random(in: 0..<2, using: &random) == 0 else { return nil }
    // A write that was executed can only lose its answer.
    let codes: [PersistenceError.Code] =
      operation.key == nil || operation.executed != nil
      ? [.unreachable, .cancelled] : [.unauthorized, .uniqueViolation, .conflict, .duplicateKey, .cancelled]
    return PersistenceError(codes.randomElement(using: &random) ?? .unreachable, "scripted")
  }

  private mutating func end(_ index: Int, _ error: PersistenceError?) async throws {
    var operation = inFlight.remove(at: index)
    if error == nil, operation.executed == nil {
      await operation.call.execute()
      operation.executed = clock.date
      oracle.record(try await remote.base.execute(everyNote), at: clock.date)
    }
    steps.append("answer \(operation.number) \(error?.code.rawValue ?? "genuine")")
    if error?.code == .cancelled { operation.task.cancel() }
    operation.call.deliver(error)
    _ = await events.next()
    let isDone = await operation.task.value
    if isDone, error == nil, let key = operation.key, let date = operation.executed {
      oracle.acknowledge(key, at: date)
    }
  }

  private mutating func send() async throws {
    guard let outbox = sources[0].outbox else { return }
    let codes: [PersistenceError.Code?] = [nil, nil, .unreachable, .uniqueViolation, .unauthorized]
    let code = codes.randomElement(using: &random) ?? nil
    steps.append("send \(code?.rawValue ?? "genuine")")
    remote.batchFailures = [code.map { PersistenceError($0, "scripted") }]
    try? await outbox.send()
    remote.batchFailures = []
  }
}
