import DataAccess
import PersistenceCore

extension LayerHistory {
  mutating func beginRead() async {
    let number = Int.random(in: sources.indices, using: &random)
    let source = sources[number]
    let kind = Int.random(in: 0..<7, using: &random)
    let key = Int.random(in: 0..<4, using: &random)
    steps.append(kind > 4 ? "read \(key)" : "read query \(kind)")
    await begin(key: nil, number) {
      if kind > 4 {
        _ = try await source.answer(for: key)
      } else {
        _ = try await source.answer(to: Self.query(source, kind))
      }
    }
  }

  mutating func beginWrite(isCancelled: Bool) async {
    let number = Int.random(in: sources.indices, using: &random)
    let source = sources[number]
    let note = randomNote()
    let kind = Int.random(in: 0..<5, using: &random)
    let cancels = cancels
    let body: @Sendable () async throws -> Void = {
      // The next look at the date follows the first check of cancellation.
      if isCancelled { cancels.ask() }
      switch kind {
      case 0, 1: try await source.insert(note)
      case 2: try await source.update(note)
      case 3: try await source.delete(note)
      default: try await source.save(note)
      }
    }
    // Writes of one key run one after another.
    if let index = inFlight.firstIndex(where: { $0.key == note.id }) {
      if inFlight[index].source == number, inFlight[index].follower == nil, !isCancelled {
        steps.append("write \(kind) \(note) behind \(inFlight[index].number)")
        await queue(behind: index, body)
      }
      return
    }
    steps.append("write \(kind) \(note)\(isCancelled ? ", cancelled" : "")")
    await begin(key: note.id, number, body)
  }

  func start(_ body: @escaping @Sendable () async throws -> Void) -> Task<Bool, Never> {
    let events = events
    return Task {
      defer { events.send(.ended) }
      do {
        try await body()
        return true
      } catch {
        return false
      }
    }
  }

  /// Starts an operation, and waits until it calls the remote layer or ends.
  private mutating func begin(key: Int?, _ source: Int, _ body: @escaping @Sendable () async throws -> Void)
    async
  {
    let task = start(body)
    guard case .call(let call) = await events.next() else { return }
    add(task, call, key: key, source)
  }

  mutating func add(_ task: Task<Bool, Never>, _ call: SteppedCall, key: Int?, _ source: Int) {
    number += 1
    inFlight.append(Operation(number: number, task: task, call: call, key: key, source: source))
  }
}
