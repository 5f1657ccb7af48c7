import ContextTestSupport
import Foundation
import PersistenceCore
import Synchronization
import Testing

@Suite("W6: one writer at a time")
struct WriterTests {
  @Test(
    "W6 a second writer waits for the stated time, then throws busy, and nothing is changed",
    arguments: ContextUnderTest.all)
  func busy(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open(["busy": "200ms"])
    try repository.save(Account(1, balance: 1))
    try repository.transaction { store in
      try store.save(Account(1, balance: 2))
      let waited = Threads.run(1) { _ -> Duration in
        let start = ContinuousClock.now
        let error = expectError(.busy) { try repository.save(Account(1, balance: 3)) }
        #expect(error?.isRetryable == true)
        return ContinuousClock.now - start
      }
      #expect(waited[0] >= .milliseconds(190) && waited[0] < .seconds(10))
      // Readers do not wait for the writer.
      #expect(Threads.run(1) { _ in try? repository.find(Account.self, id: 1)?.balance } == [1])
    }
    #expect(try repository.find(Account.self, id: 1)?.balance == 2)
    try repository.save(Account(1, balance: 3))
  }

  @Test(
    "W6 a writer that waits gets its turn when the other is done, also when that one failed",
    arguments: ContextUnderTest.all)
  func turn(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open(["busy": "30s"])
    try repository.save(Account(1, balance: 0))
    let outcomes = Threads.run(6) { number -> Bool in
      do {
        try repository.transaction { store in
          try store.write(Account.self, id: 1) { $0.balance += 1 }
          if number.isMultiple(of: 2) { throw Refusal() }
        }
        return true
      } catch {
        return false
      }
    }
    #expect(outcomes == [false, true, false, true, false, true])
    #expect(try repository.find(Account.self, id: 1)?.balance == 3)
  }

  @Test("W6 writers of one process get their turns in order of arrival", arguments: ContextUnderTest.all)
  func fairness(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open(["busy": "60s"])
    try repository.save(Account(1, balance: 0))
    let order = Mutex<[Int]>([])
    let group = DispatchGroup()
    try repository.transaction { _ in
      for number in 0..<8 {
        let writer = WaitingThread(in: group) {
          do {
            try repository.transaction { _ in order.withLock { $0.append(number) } }
          } catch {
            Issue.record("\(error)")
          }
        }
        try writer.waitUntilAsleepOrOver()
      }
    }
    group.wait()
    #expect(order.withLock { $0 } == Array(0..<8))
  }

  @Test(
    "W6 readers never wait for a writer, nor a writer for readers",
    arguments: ContextUnderTest.all(
      with: { !$0.readersBlockWriters }, named: "readersBlockWriters = false", rule: "W6 readers and writers")
  )
  func readers(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open(["busy": "1s"])
    try repository.save(contentsOf: (1...600).map { Account($0, balance: 0) })
    let held = try repository.fetch(Account.self)
    let iterator = held.makeIterator()
    _ = iterator.next()
    try repository.save(contentsOf: (1...600).map { Account($0, balance: 1) })
    try repository.transaction { store in
      try store.deleteAll(Account.self)
      let sums = Threads.run(2) { _ in try? repository.fetch(Account.self).reduce(0) { $0 + $1.balance } }
      #expect(sums == [600, 600])
      #expect(held.reduce(0) { $0 + $1.balance } == 0)
    }
    #expect(held.count == 600 && held.reduce(0) { $0 + $1.balance } == 0)
    #expect(try repository.count(Account.self) == 0)
  }
}
