import PersistenceCore
import Synchronization

/// Lets one task at a time through, in the order in which they came.
final class AsyncGate: Sendable {
  private struct State {
    var isTaken = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    var begun = 0
  }

  private let state = Mutex(State())

  /// Runs a closure while no other one runs.
  func enter<Result, Failure: Error>(
    _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    await take()
    defer { leave() }
    return try await body()
  }

  func take() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if !state.isTaken {
          state.isTaken = true
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  func leave() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard state.begun < state.waiting.count else {
        state.isTaken = false
        return nil
      }
      let next = state.waiting[state.begun]
      state.begun += 1
      if state.begun == state.waiting.count || state.begun > 256 {
        state.waiting.removeFirst(state.begun)
        state.begun = 0
      }
      return next
    }
    next?.resume()
  }
}

/// Gates by key: writes of one object come one after another, those of different objects side by side.
final class KeyGates: Sendable {
  private struct Gate {
    let gate = AsyncGate()
    var users = 0
  }

  private let gates = Mutex<[RecordKey: Gate]>([:])

  /// Runs a closure while no other one runs for any of the keys.
  func enter<Result, Failure: Error>(
    _ keys: [RecordKey], _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    // Always in one order, so that two writes of the same objects do not wait for each other.
    let keys = Array(Set(keys)).sorted()
    for key in keys {
      let gate = gates.withLock { gates in
        gates[key, default: Gate()].users += 1
        return gates[key]?.gate
      }
      await gate?.take()
    }
    defer {
      for key in keys {
        let gate = gates.withLock { gates in
          let gate = gates[key]?.gate
          gates[key]?.users -= 1
          if gates[key]?.users == 0 { gates.removeValue(forKey: key) }
          return gate
        }
        gate?.leave()
      }
    }
    return try await body()
  }
}
