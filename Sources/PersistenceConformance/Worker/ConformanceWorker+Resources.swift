import Foundation
import PersistenceCore

extension ConformanceWorker {
  /// `claim email`: inserts a person with a unique value.
  @Sendable static func claim(_ store: WorkerStore, _ arguments: [String]) throws {
    try store.open().insert(Person("worker", email: arguments.first ?? ""))
    say("done")
  }

  /// `cycle count`: opens, uses and closes the store, and prints what the process holds before, halfway and after.
  @Sendable static func cycle(_ store: WorkerStore, _ arguments: [String]) throws {
    let count = arguments.first.flatMap { Int($0) } ?? 1
    // The first cycles start what a process needs once, such as threads.
    for _ in 0..<10 { try useOnce(store) }
    let before = ProcessResources()
    for _ in 0..<count / 2 { try useOnce(store) }
    let halfway = ProcessResources()
    for _ in count / 2..<count { try useOnce(store) }
    let all = [before, halfway, ProcessResources()]
    func say(_ what: String, _ number: KeyPath<ProcessResources, Int>) {
      Self.say("\(what) " + all.map { "\($0[keyPath: number])" }.joined(separator: " "))
    }
    say("descriptors", \.descriptors)
    say("threads", \.threads)
    say("memory", \.memory)
    Self.say("done")
  }

  private static func useOnce(_ store: WorkerStore) throws {
    let repository = try store.open()
    // More records than a page, so that a result keeps its snapshot.
    if try repository.count(Account.self) < 150 {
      try repository.save(contentsOf: (1...150).map { Account($0, balance: 1) })
    }
    try repository.save(Account(1, balance: 1))
    // Released before close, which may wait for them.
    do {
      let snapshot = try repository.storage.snapshot()
      let results = try repository.filter(Account.self).result()
      let sorted = try repository.filter(Account.self).sorted(by: \.note).result()
      _ = try (snapshot.catalog().count, results.first?.id, sorted.first?.id)
    }
    _ = try repository.transaction { try $0.write(Account.self, id: 1) { $0.balance += 1 } }
    try? repository.transaction { _ in throw SuiteError() }
    try repository.close()
  }

  /// `peek`: fetches all accounts, reads one, and prints the growth of the process's memory in bytes.
  @Sendable static func peek(_ store: WorkerStore, _ arguments: [String]) throws {
    let storage = try store.open().storage
    let request = try FetchRequest(Account.schema.model)
    // The first read fills caches that do not grow with the result.
    _ = try storage.fetch(FetchRequest(Account.schema.model, limit: 1)).read(from: 0, limit: 1) { _ in }
    let before = ProcessResources().memory
    let results = try storage.fetch(request)
    var read = 0
    _ = try results.read(from: 0, limit: 1) { _ in read += 1 }
    let after = ProcessResources().memory
    withExtendedLifetime(results) {}
    say("read \(read)")
    say("grown \(max(0, after - before))")
  }

  /// `reject`: opens a damaged store, prints the error and the store's open files, and lives on.
  @Sendable static func reject(_ store: WorkerStore, _ arguments: [String]) throws {
    do {
      try store.open().close()
      say("opened")
    } catch let error as PersistenceError {
      say("refused \(error.code.rawValue)")
    }
    let folder = URL(fileURLWithPath: store.path).deletingLastPathComponent().path
    say("files \(ProcessResources.openFiles(in: folder))")
    say("waiting")
    _ = readLine()
  }

  /// `examine count mode`: opens many stores, in the folders `0`, `1` and so on, and prints what each holds.
  ///
  /// In the mode `continue`, it also commits a record, reopens the store, and compares. In the mode `script-SEED`, it
  /// does the same, and compares with the script before.
  @Sendable static func examine(_ store: WorkerStore, _ arguments: [String]) throws {
    let count = arguments.first.flatMap { Int($0) } ?? 0
    let mode = arguments.last ?? ""
    let script = mode.hasPrefix("script-") ? UInt64(mode.dropFirst(7)).map(CommitScript.init(seed:)) : nil
    let root = URL(fileURLWithPath: store.path).deletingLastPathComponent()
    for number in 0..<count {
      say("begin \(number).")
      let path = root.appendingPathComponent("\(number)/store").path
      do {
        let repository = try store.open(at: path)
        let digest = try StoreDigest.of(repository)
        if mode == "continue" || script != nil {
          say("end \(number). \(try goOn(repository, at: path, store, script))")
        } else {
          say("end \(number). digest \(digest)")
        }
        try? repository.close()
      } catch let error as PersistenceError {
        say("end \(number). error \(error.code.rawValue) \(error)")
      } catch {
        say("end \(number). untyped \(error)")
      }
    }
  }

  /// Commits a record, reopens the store, and says whether it holds what it held before, and the record.
  private static func goOn(
    _ repository: Repository, at path: String, _ store: WorkerStore, _ script: CommitScript?
  ) throws -> String {
    let new = Account(900_001, balance: 3, note: String(repeating: "after recovery ", count: 20))
    var expected = try CommitScript.read(repository)
    if let script, try script.state(after: expected.number) != expected {
      return "lost: the store does not hold exactly the first \(expected.number) transactions"
    }
    try repository.save(new)
    expected.accounts[new.id] = new
    try repository.close()
    do {
      let again = try store.open(at: path)
      let found = try CommitScript.read(again)
      try again.close()
      return found == expected
        ? "kept \(expected.number)"
        : "lost: \(found.accounts.count) accounts and \(found.people.count) people instead of "
          + "\(expected.accounts.count) and \(expected.people.count)"
    } catch {
      return "lost: the opening after the commit throws \(error)"
    }
  }
}
