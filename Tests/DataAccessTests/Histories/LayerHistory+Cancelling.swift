@testable import DataAccess
import DataAccessTesting
import PersistenceCore

extension LayerHistory {
  /// Starts a write behind one of the same key, which is in flight, and cancels it half of the time.
  mutating func queue(behind index: Int, _ body: @escaping @Sendable () async throws -> Void) async {
    let operation = inFlight[index]
    let task = start(body)
    let (mutexes, key) = (sources[operation.source].core.mutexes, RecordKey((operation.key ?? 0).keyValues))
    while mutexes.waiting(for: key) == 0 { await Task.yield() }
    inFlight[index].follower = task
    if Bool.random(using: &random) { await cancelFollower(of: index) }
  }

  /// Cancels a write that waits for another one, which has to end it at once.
  mutating func cancelFollower(of index: Int) async {
    guard let task = inFlight[index].follower else { return }
    steps.append("cancel the write behind \(inFlight[index].number)")
    inFlight[index].follower = nil
    task.cancel()
    _ = await events.next()
    if await task.value { mistakes.append("a cancelled write behind \(inFlight[index].number) was made") }
  }

  /// Waits for the end of an operation, and until the write behind it calls the remote layer or ends.
  mutating func endEvents(of operation: Operation) async {
    for _ in 0..<(operation.follower == nil ? 1 : 2) {
      if case .call(let call) = await events.next(), let task = operation.follower {
        add(task, call, key: operation.key, operation.source)
      }
    }
  }

  /// Sets the clock of the device.
  mutating func setClock() {
    // A process does not know how the clock was set before its start.
    if layers == .restarted { return }
    // Two processes may notice different changes, and trust each other's dates.
    let seconds = layers == .twoProcesses ? [-86_400, 86_400] : [-86_400, -5, -1, 3, 86_400]
    let change = seconds.randomElement(using: &random) ?? 0
    steps.append("set the clock by \(change) s")
    clock.changeDate(by: .seconds(change))
  }
}
