import Foundation
import PersistenceCore

/// The commands of the worker process, for checks of kills, of several processes, and of failing media.
///
/// It prints each step as one line, unbuffered, so that each received line is a fact.
public enum ConformanceWorker {
  /// Runs one command of the suite: the main function of a ``WorkerProgram``.
  ///
  /// - Parameters:
  ///   - arguments: The arguments after the program's own.
  ///   - context: The context that the suite checks in the other process.
  /// - Returns: The exit code.
  public static func run(_ arguments: [String], on context: ContextUnderTest) -> Int32 {
    guard arguments.count >= 3, let command = commands[arguments[0]],
      let options = OpeningOptions(argument: arguments[2])
    else {
      say("usage: \(commands.keys.sorted().joined(separator: "|")) PATH OPTIONS …")
      return 64
    }
    do {
      let store = WorkerStore(context: context, path: arguments[1], options: options)
      try command(store, Array(arguments.dropFirst(3)))
      return 0
    } catch let error as PersistenceError {
      say("error \(error.code.rawValue) \(error)")
      return 1
    } catch {
      say("error other \(error)")
      return 2
    }
  }

  struct WorkerStore {
    let context: ContextUnderTest
    let path: String
    let options: OpeningOptions

    func open() throws -> Repository { try open(at: path) }

    func open(at path: String) throws -> Repository {
      Repository(try context.open(path, options, .worker))
    }
  }

  private static let commands: [String: @Sendable (WorkerStore, [String]) throws -> Void] = [
    "commit": commit, "step": step, "transfer": transfer, "hold": hold, "rewrite": rewrite, "digest": digest,
    "fill": fill,
    "unprivileged": unprivileged, "append": append, "redefine": redefine,
    "evolve": evolve, "upgrade": upgrade, "claim": claim, "cycle": cycle, "peek": peek, "reject": reject,
    "examine": examine, "script": script, "watch": watch, "survey": survey, "reread": reread, "probe": probe,
  ]

  static func say(_ line: String) {
    let bytes = Array((line.replacingOccurrences(of: "\n", with: " ") + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
  }

  /// `commit seed number`: continues a script after transaction `number`, until it is killed.
  @Sendable private static func commit(_ store: WorkerStore, _ arguments: [String]) throws {
    let script = CommitScript(seed: UInt64(arguments.first ?? "") ?? 0)
    var number = arguments.dropFirst().first.flatMap { Int($0) } ?? 0
    let repository = try store.open()
    say("open")
    while true {
      number += 1
      try script.apply(number, to: repository)
      say("ack \(number)")
    }
  }

  /// `step seed`: applies one transaction of a script for each line of standard input.
  @Sendable private static func step(_ store: WorkerStore, _ arguments: [String]) throws {
    let script = CommitScript(seed: UInt64(arguments.first ?? "") ?? 0)
    var number = 0
    let repository = try store.open()
    say("open")
    while readLine() != nil {
      number += 1
      try script.apply(number, to: repository)
      say("ack \(number)")
    }
  }

  /// `transfer accounts count seed [replayable]`: makes `count` transfers, with occasional audits.
  @Sendable private static func transfer(_ store: WorkerStore, _ arguments: [String]) throws {
    let numbers = arguments.compactMap { Int($0) }
    guard numbers.count == 3 else { return say("error usage") }
    let repository = try store.open()
    var random = SeededGenerator(seed: UInt64(numbers[2]))
    let isReplayable = arguments.last == "replayable"
    say("open")
    for number in 1...numbers[1] {
      try Bank.transfer(in: repository, accounts: numbers[0], replayable: isReplayable, using: &random)
      say("ack \(number)")
      if number.isMultiple(of: 10) { try Bank.audit(repository, accounts: numbers[0]) }
    }
  }

  /// `hold`: writes in a transaction and keeps it open until standard input ends.
  @Sendable private static func hold(_ store: WorkerStore, _ arguments: [String]) throws {
    let repository = try store.open()
    try repository.transaction { store in
      try store.save(contentsOf: (1...50).map { Account($0, balance: -1) })
      try store.deleteAll(Person.self)
      say("holding")
      _ = readLine()
    }
    say("committed")
  }

  /// `rewrite`: replaces, deletes and inserts accounts, in several transactions.
  @Sendable private static func rewrite(_ store: WorkerStore, _ arguments: [String]) throws {
    let repository = try store.open()
    try repository.filter(Account.self, where: \.id > 300).delete()
    try repository.save(contentsOf: (1...100).map { Account($0 * 2, balance: -1) })
    try repository.save(contentsOf: (1...100).map { Account(-$0, balance: -2) })
    say("done")
  }

  /// `redefine number`: replaces a model by the next schema and its rows, until it is killed.
  @Sendable private static func redefine(_ store: WorkerStore, _ arguments: [String]) throws {
    var number = arguments.first.flatMap { Int($0) } ?? 0
    let storage = try store.open().storage
    say("open")
    while true {
      number += 1
      try Redefinition.apply(number, to: storage)
      say("ack \(number)")
    }
  }

  /// `evolve number`: changes a schema after version `number`, until it is killed.
  @Sendable private static func evolve(_ store: WorkerStore, _ arguments: [String]) throws {
    var number = arguments.first.flatMap { Int($0) } ?? 0
    let storage = try store.open().storage
    say("open")
    while true {
      number += 1
      try Succession.apply(number, to: storage)
      say("ack \(number)")
    }
  }

  /// `upgrade number`: opens a store with one version of an app after the other, until it is killed.
  @Sendable private static func upgrade(_ store: WorkerStore, _ arguments: [String]) throws {
    var number = arguments.first.flatMap { Int($0) } ?? 0
    let repository = try store.open()
    say("open")
    while true {
      number += 1
      try Upgrades.apply(number, to: repository)
      say("ack \(number)")
    }
  }

  /// `append number count [replayable]`: appends `count` words to a list, and prints the list before each append.
  @Sendable private static func append(_ store: WorkerStore, _ arguments: [String]) throws {
    let numbers = arguments.compactMap { Int($0) }
    guard numbers.count == 2 else { return say("error usage") }
    let repository = try store.open()
    say("open")
    for step in 0..<numbers[1] {
      let before = try Withdrawals.append(
        "\(numbers[0])-\(step)", in: repository, replayable: arguments.last == "replayable")
      say("before " + before.joined(separator: " "))
    }
  }
}
