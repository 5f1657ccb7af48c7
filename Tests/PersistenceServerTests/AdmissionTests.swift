import Dispatch
import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import Synchronization
import TestSupport
import Testing

@testable import PersistenceServer

@Suite("Admission and budget")
struct AdmissionTests {
  /// The reads that have passed, in their order.
  private final class Log: Sendable {
    private let entries = Mutex<[Int]>([])
    var numbers: [Int] { entries.withLock(\.self) }
    func add(_ number: Int) { entries.withLock { $0.append(number) } }
  }

  private static let (first, second) = (ReadAdmission.Client(token: 1), ReadAdmission.Client(token: 2))

  @Test("reads of one client beyond its limit wait in order, and those of others do not")
  func order() async throws {
    let admission = ReadAdmission(limit: 1, waitingLimit: 10)
    let running = try await admission.enter(Self.first, ReadInterruption())
    let log = Log()
    let waiting = try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1...3 {
        group.addTask {
          let permit = try await admission.enter(Self.first, ReadInterruption())
          log.add(number)
          permit.end()
        }
        // One after the other, so that the order of arrival is known.
        try await until { admission.waiting == number }
      }
      try await admission.enter(Self.second, ReadInterruption()).end()
      let waiting = admission.waiting
      running.end()
      try await group.waitForAll()
      return waiting
    }
    #expect(waiting == 3)
    #expect(log.numbers == [1, 2, 3])
    #expect(admission.waiting == 0)
  }

  @Test("an interrupted wait throws, and its place passes to the next read")
  func interrupted() async throws {
    let admission = ReadAdmission(limit: 1, waitingLimit: 10)
    let running = try await admission.enter(Self.first, ReadInterruption())
    let interruption = ReadInterruption()
    let lost = Task { try await admission.enter(Self.first, interruption).end() }
    try await until { admission.waiting == 1 }
    async let next = admission.enter(Self.first, ReadInterruption())
    try await until { admission.waiting == 2 }
    interruption.request(PersistenceError(.cancelled, "gone"))
    await #expect(throws: PersistenceError.self) { try await lost.value }
    #expect(admission.waiting == 1)
    running.end()
    try await next.end()
    // A permit that nobody ends explicitly ends with its object.
    _ = try await admission.enter(Self.first, ReadInterruption())
    try await admission.enter(Self.first, ReadInterruption()).end()
  }

  @Test(
    "immediate reads occupy half of the threads of tasks at most, and others go elsewhere",
    .timeLimit(.minutes(1)))
  func immediate() async throws {
    let reads = ImmediateReads(of: try Film.context([Film(1)]))
    let (started, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    // On threads that may block: other tests need those of tasks meanwhile.
    let threads = BlockingThreads("test", limit: 64)
    let running = (0..<ProcessInfo.processInfo.activeProcessorCount / 2).map { _ in
      Task(executorPreference: threads) {
        try await reads.run { () -> Int in
          started.signal()
          gate.wait()
          return 1
        }
      }
    }
    for _ in running { await BlockingThread.run { () -> Void in started.wait() } }
    let excess = try await reads.run { 2 }
    for _ in running { gate.signal() }
    for task in running {
      let result = try await task.value
      #expect(result == 1)
    }
    let last = try await reads.run { 3 }
    #expect(excess == nil)
    #expect(last == (running.isEmpty ? nil : 3))
    await threads.close()
  }

  @Test("one client may fill half of the queue, and is busy beyond it")
  func busy() async throws {
    let admission = ReadAdmission(limit: 1, waitingLimit: 2)
    let permits = [
      try await admission.enter(Self.first, ReadInterruption()),
      try await admission.enter(Self.second, ReadInterruption()),
    ]
    async let waiting = admission.enter(Self.first, ReadInterruption())
    try await until { admission.waiting == 1 }
    let error = await #expect(throws: PersistenceError.self) {
      try await admission.enter(Self.first, ReadInterruption())
    }
    #expect(error?.code == .busy)
    async let other = admission.enter(Self.second, ReadInterruption())
    try await until { admission.waiting == 2 }
    for permit in permits { permit.end() }
    try await waiting.end()
    try await other.end()
  }

  @Test("answers beyond the budget wait until clients have received others")
  func budget() async throws {
    let budget = AnswerBudget(100)
    try await budget.wait(ReadInterruption())
    budget.add(60)
    try await budget.wait(ReadInterruption())
    budget.add(60)
    #expect(budget.isFull)
    let interruption = ReadInterruption()
    let log = Log()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await budget.wait(ReadInterruption())
        log.add(1)
      }
      group.addTask {
        await #expect(throws: PersistenceError.self) { try await budget.wait(interruption) }
      }
      try await until { budget.waiting == 2 }
      interruption.request(PersistenceError(.timedOut, "late"))
      try await until { budget.waiting == 1 }
      #expect(log.numbers.isEmpty)
      budget.remove(60)
      try await group.waitForAll()
    }
    #expect(budget.used == 60 && !budget.isFull)
  }
}
