import Dispatch
import Foundation
import PersistenceDriver
import Synchronization
import Testing
import PersistenceDriverSupport

/// W6: one exclusive writer at a time, or sharers, in order of arrival, with a time-out for each.
struct WriterGateTests {
  @Test("W6 writers pass in order of arrival")
  func order() throws {
    let gate = WriterGate()
    let passed = Mutex<[Int]>([])
    let group = DispatchGroup()
    try gate.enter(timeout: .seconds(5), location: "x")
    for number in 0..<8 {
      let arrived = DispatchSemaphore(value: 0)
      group.enter()
      Thread.detachNewThread {
        defer { group.leave() }
        arrived.signal()
        try? gate.withEntry(timeout: .seconds(20), location: "x") { passed.withLock { $0.append(number) } }
      }
      arrived.wait()
      // The signal precedes the thread's entry, so wait until the gate counts the writer.
      while gate.waitingWriters <= number { usleep(200) }
    }
    gate.leave()
    group.wait()
    #expect(passed.withLock { $0 } == Array(0..<8))
  }

  @Test("W6 a writer that times out gets an error, and the gate admits the next writer")
  func timeout() throws {
    let gate = WriterGate()
    try gate.enter(timeout: .seconds(1), location: "x")
    let code = Mutex<PersistenceError.Code?>(nil)
    let group = DispatchGroup()
    group.enter()
    Thread.detachNewThread {
      defer { group.leave() }
      do {
        try gate.enter(timeout: .milliseconds(30), location: "x")
      } catch {
        code.withLock { $0 = (error as? PersistenceError)?.code }
      }
    }
    group.wait()
    #expect(code.withLock { $0 } == .busy)
    gate.leave()
    try gate.withEntry(timeout: .milliseconds(1), location: "x") {}
  }

  @Test("R1a a writer does not wait for itself")
  func reentrance() throws {
    let gate = WriterGate()
    let _: Void = try gate.withEntry(timeout: .seconds(1), location: "x") {
      #expect { try gate.enter(timeout: .seconds(60), location: "x") } throws: {
        ($0 as? PersistenceError)?.code == .insideTransaction
      }
    }
  }

  /// Threads that wait at a gate, one after the other.
  private final class Line: Sendable {
    let passed = Mutex<[String]>([])
    let group = DispatchGroup()

    func add(_ name: String, at gate: WriterGate, timeout: Duration = .seconds(20), shared: Bool) {
      let before = gate.waitingWriters
      group.enter()
      Thread.detachNewThread { [self] in
        defer { group.leave() }
        do {
          if shared {
            try gate.withSharedEntry(timeout: timeout, location: "x") { passed.withLock { $0.append(name) } }
          } else {
            try gate.withEntry(timeout: timeout, location: "x") { passed.withLock { $0.append(name) } }
          }
        } catch {
          passed.withLock { $0.append("\(name): \((error as? PersistenceError)?.code.rawValue ?? "?")") }
        }
      }
      while gate.waitingWriters == before { usleep(200) }
    }
  }

  @Test("W6 sharers enter together, up to a limit")
  func sharers() throws {
    let gate = WriterGate(sharerLimit: 3)
    let (inside, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let group = DispatchGroup()
    for _ in 0..<4 {
      group.enter()
      Thread.detachNewThread {
        defer { group.leave() }
        try? gate.withSharedEntry(timeout: .seconds(20), location: "x") {
          inside.signal()
          leave.wait()
        }
      }
    }
    for _ in 0..<3 { inside.wait() }
    while gate.waitingWriters == 0 { usleep(200) }
    leave.signal()
    #expect(inside.wait(timeout: .now() + 20) == .success, "the fourth takes the place of another")
    for _ in 0..<3 { leave.signal() }
    group.wait()
    try gate.withEntry(timeout: .zero, location: "x") {}
  }

  @Test("W6 a waiting exclusive writer goes before sharers that come later")
  func exclusiveBeforeSharers() throws {
    let (gate, line) = (WriterGate(), Line())
    try gate.enterShared(timeout: .seconds(1), location: "x")
    line.add("exclusive", at: gate, shared: false)
    line.add("sharer", at: gate, shared: true)
    #expect(line.passed.withLock { $0 }.isEmpty)
    gate.leaveShared()
    line.group.wait()
    #expect(line.passed.withLock { $0 } == ["exclusive", "sharer"])
  }

  @Test("W6 an exclusive writer that gives up lets the sharers behind it in")
  func exclusiveTimeout() throws {
    let (gate, line) = (WriterGate(), Line())
    try gate.enterShared(timeout: .seconds(1), location: "x")
    line.add("exclusive", at: gate, timeout: .milliseconds(200), shared: false)
    line.add("sharer", at: gate, shared: true)
    line.group.wait()
    #expect(line.passed.withLock { Set($0) } == ["exclusive: busy", "sharer"])
    gate.leaveShared()
    try gate.withEntry(timeout: .zero, location: "x") {}
  }

  @Test("W6 a sharer waits for an exclusive writer until its time-out")
  func sharerTimeout() throws {
    let (gate, line) = (WriterGate(), Line())
    try gate.enter(timeout: .seconds(1), location: "x")
    line.add("impatient", at: gate, timeout: .milliseconds(30), shared: true)
    line.group.wait()
    line.add("patient", at: gate, shared: true)
    gate.leave()
    line.group.wait()
    #expect(line.passed.withLock { $0 } == ["impatient: busy", "patient"])
  }

  @Test("R1a a sharer waits for itself in no way", arguments: [false, true])
  func sharedReentrance(isShared: Bool) throws {
    let gate = WriterGate()
    func enter() throws {
      if isShared {
        try gate.withSharedEntry(timeout: .seconds(60), location: "x") {}
      } else {
        try gate.withEntry(timeout: .seconds(60), location: "x") {}
      }
    }
    try gate.withSharedEntry(timeout: .seconds(1), location: "x") {
      #expect(gate.isEnteredByThisThread)
      #expect { try enter() } throws: { ($0 as? PersistenceError)?.code == .insideTransaction }
    }
    #expect(!gate.isEnteredByThisThread)
    try enter()
  }
}
