import Dispatch
import Foundation
import PersistenceDriver
import Synchronization
import Testing
import PersistenceDriverSupport

/// W6: one writer at a time, in order of arrival, with a time-out for each.
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
}
