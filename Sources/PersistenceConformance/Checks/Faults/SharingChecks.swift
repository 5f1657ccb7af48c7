import Foundation
import PersistenceCore

/// C2: contexts that share a store.
enum SharingChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "contexts that open a new store at the same moment share it", [.c2], needs: [.writable, .multiProcess],
      creation),
    ConformanceCheck(
      "unique values that another context or process committed are taken, and those that it freed are free",
      [.c2, .w4], needs: [.writable, .multiProcess], unique
    ).slow,
    ConformanceCheck(
      "an open read-only context sees each later commit of another process", [.c2, .e5],
      needs: [.writable, .multiProcess], readOnly
    ).slow,
    ConformanceCheck(
      "after a closure has thrown, other processes can write", [.c2, .w3], needs: [.writable, .multiProcess],
      afterThrowing
    ).slow,
    ConformanceCheck(
      "contexts that open one store by different paths share it", [.c2, .w6],
      needs: [.writable, .multiProcess, .files], paths),
    ConformanceCheck(
      "a writer behind a waiting writer of its process waits no longer than the configured time", [.w6, .c2],
      needs: [.writable, .multiProcess], waitsOnce
    ).slow,
  ]

  @Sendable private static func creation(_ context: ContextUnderTest) throws {
    for _ in 0..<context.effort.times(4, thorough: 400) {
      let store = try context.makeStore()
      let repositories = try Threads.run(3) { number in
        let repository = try store.open(.patient)
        try repository.save(Account(number, balance: number))
        return repository
      }
      for repository in repositories {
        try expect(repository.fetch(Account.self).map(\.balance), equals: [0, 1, 2], "the accounts")
      }
    }
  }

  @Sendable private static func unique(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let (first, second) = (try store.open(), try store.open())
    try first.insert(Person("a", email: "1"))
    // Now both contexts know the values of the index.
    try second.insert(Person("b", email: "2"))
    try first.insert(Person("c", email: "3"))
    try expectError(.uniqueViolation, "a value that the first context committed") {
      try second.insert(Person("new", email: "3"))
    }
    let worker = try store.worker("claim", "4")
    try expect(worker.waitUntilOver() == .success, "\(worker.lines)")
    for (name, repository) in [("first", first), ("second", second)] {
      try expectError(.uniqueViolation, "a value that another process committed, in the \(name) context") {
        try repository.save(Person("new", email: "4"))
      }
    }
    try expect(first.delete(Person.self, id: "worker"), equals: true, "the deletion of the other's record")
    try second.insert(Person("d", email: "4"))
    try expect(first.fetch(Person.self).map(\.id), equals: ["a", "b", "c", "d"], "the people")
  }

  @Sendable private static func readOnly(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let writer = try store.open()
    try writer.save(contentsOf: (1...20).map { Account($0, balance: $0) })
    try writer.close()
    let reader = try store.open(.readOnly)
    let earlier = try reader.fetch(Account.self)
    try expect(earlier.map(\.balance), equals: Array(1...20), "the accounts at the opening")
    let worker = try store.worker("rewrite")
    try expect(worker.waitUntilOver() == .success, "\(worker.lines)")
    try expect(reader.count(Account.self), equals: 210, "the accounts after the other's commits")
    try expect(reader.find(Account.self, id: -1)?.balance, equals: -2, "a new account")
    try expect(
      reader.filter(Account.self, where: \.balance == -1).count(), equals: 100, "accounts found by an index")
    let again = try store.open()
    try again.save(Keyed("new", "model"))
    try expect(reader.count(Keyed<String>.self), equals: 1, "the records of a new model")
    try expect(earlier.map(\.balance), equals: Array(1...20), "the result from before")
    try again.close()
    try reader.close()
  }

  @Sendable private static func afterThrowing(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open()
    try repository.save(contentsOf: (1...20).map { Account($0, balance: $0) })
    try repository.insert(Person("a", email: "1"))
    try expectThrows(SuiteError(), "a closure's error") {
      try repository.transaction { inner in
        try inner.deleteAll(Account.self)
        throw SuiteError()
      }
    }
    try expectError(.uniqueViolation, "a rejected write") { try repository.insert(Person("b", email: "1")) }
    try? repository.transaction { inner in try inner.transaction { _ in throw SuiteError() } }
    let worker = try store.worker("rewrite", opening: .waiting(milliseconds: 2_000))
    try expect(worker.waitUntilOver() == .success, "another process writes: \(worker.lines)")
    try expect(repository.count(Account.self), equals: 210, "the accounts after the other's commits")
  }

  @Sendable private static func paths(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let link = store.folder.deletingLastPathComponent().appendingPathComponent("link to the store's folder")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: store.folder)
    let linked = StoreUnderTest(store.context, folder: link)
    let first = try store.open(.waiting(milliseconds: 100))
    try first.save(Account(1, balance: 1))
    let second = try linked.open(.waiting(milliseconds: 100))
    try expect(second.count(Account.self), equals: 1, "the accounts by the other path")
    try second.insert(Person("a", email: "1"))
    try expectError(.uniqueViolation, "a value that was committed by the other path") {
      try first.insert(Person("b", email: "1"))
    }
    try first.transaction { inner in
      try inner.save(Account(2, balance: 2))
      try Threads.run(1) { _ in
        try expectError(.busy, "a second writer, by the other path") {
          try second.save(Account(3, balance: 3))
        }
      }
    }
    try second.save(Account(3, balance: 3))
    try expect(first.fetch(Account.self).map(\.id), equals: [1, 2, 3], "the accounts")
    try second.close()
    try first.save(Account(4, balance: 4))
    try first.close()
    try expect(linked.open().count(Account.self), equals: 4, "the accounts, by the other path")
  }

  @Sendable private static func waitsOnce(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let timeout = 400
    let repository = try store.open(.waiting(milliseconds: timeout))
    try repository.save(contentsOf: (1...60).map { Account($0, balance: 7) })
    let worker = try store.worker("hold")
    try worker.wait(for: "holding")
    var longest = Duration.zero
    // A busy machine delays one attempt, a second wait delays each.
    for _ in 0..<3 {
      let waited = try Threads.run(2) { number -> Duration in
        // The second writer finds the first one waiting for the other process.
        if number == 1 { usleep(UInt32(timeout) * 600) }
        let start = ContinuousClock.now
        try expectError(.busy, "writer \(number + 1)") { try repository.save(Account(1, balance: 8)) }
        return ContinuousClock.now - start
      }
      longest = waited.max() ?? .zero
      if longest < .milliseconds(timeout * 5 / 4) { break }
    }
    worker.release()
    worker.waitUntilOver()
    try expect(
      longest < .milliseconds(timeout * 5 / 4), "with a time-out of \(timeout) ms, a writer waited \(longest)"
    )
  }
}
