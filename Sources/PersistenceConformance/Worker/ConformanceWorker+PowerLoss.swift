import Foundation
import PersistenceCore

extension ConformanceWorker {
  /// `script seed lives count [made]`: opens the store `lives` times, and makes `count` transactions each time.
  ///
  /// It prints the beginning and the outcome of each, and goes on after errors. If `made` follows, the folder of the store
  /// is made first, as by a person.
  @Sendable static func script(_ store: WorkerStore, _ arguments: [String]) throws {
    if arguments.last == "made", mkdir(store.path, 0o777) != 0 { return say("error mkdir") }
    try perform(store, arguments) { _ in }
  }

  private static func perform(
    _ store: WorkerStore, _ arguments: [String], opened: (Repository) throws -> Void
  ) throws {
    let numbers = arguments.compactMap { UInt64($0) }
    guard numbers.count == 3 else { return say("error usage") }
    let script = CommitScript(seed: numbers[0])
    var number = 0
    for _ in 0..<numbers[1] {
      var found: Repository?
      // A fault that has passed must not keep the store closed.
      for _ in 0..<2 where found == nil { attempt("unopened", 0) { found = try store.open() } }
      guard let repository = found else { return say("gone") }
      try opened(repository)
      say("open")
      for _ in 0..<numbers[2] {
        number += 1
        say("begin \(number)")
        let current = number
        attempt("refused", number) {
          try script.apply(current, to: repository)
          say("ack \(current)")
        }
      }
      attempt("unreadable", 0) {
        let state = try CommitScript.read(repository)
        say("content \(state.number) \(state.digest)")
      }
      attempt("unclosed", 0) { try repository.close() }
      say("closed")
    }
  }

  /// Runs a closure; prints `what number code message` for a typed error, and `untyped` for another.
  private static func attempt(_ what: String, _ number: Int, _ body: () throws -> Void) {
    do {
      try body()
    } catch let error as PersistenceError {
      say("\(what) \(number) \(error.code.rawValue) \(error)")
    } catch let error as CommitScript.Inconsistent {
      say("inconsistent \(error)")
    } catch {
      say("untyped \(what) \(number) \(type(of: error)) \(error)")
    }
  }

  /// `watch seed lives count shared`: as `script`, while a second thread reads before each synchronization.
  ///
  /// It reads the same context and, if `shared` is true, another one of the same store.
  @Sendable static func watch(_ store: WorkerStore, _ arguments: [String]) throws {
    let isShared = arguments.last == "true"
    try perform(store, arguments.dropLast()) { repository in
      let readers = try [repository] + (isShared ? [store.open()] : [])
      guard CommitReader.start(readers, seen: { say("seen \($0)") }) else {
        throw WorkerProcess.Failure(description: "the recorder is not loaded")
      }
    }
  }

  /// `survey seed list`: opens each store of a list, and prints its content or what is wrong with it.
  @Sendable static func survey(_ store: WorkerStore, _ arguments: [String]) throws {
    guard arguments.count == 2, let seed = UInt64(arguments[0]) else { return say("error usage") }
    let script = CommitScript(seed: seed)
    let paths = try String(contentsOfFile: arguments[1], encoding: .utf8).split(separator: "\n")
    for (index, path) in paths.enumerated() {
      do {
        say("glimpse \(index) \(try glimpse(of: String(path), store))")
      } catch is PersistenceError {
        // A context that cannot repair the store may refuse it.
      } catch {
        say("glimpse \(index) \(error)")
      }
      do {
        let state = try added(script, to: String(path), store)
        say("content \(state.number) \(state.digest)")
      } catch let error as PersistenceError {
        say("fault \(index) the context cannot use the store: \(error.code.rawValue), \(error)")
      } catch {
        say("fault \(index) \(error)")
      }
    }
  }

  /// The content that a read-only opening shows, before any other repairs the store.
  private static func glimpse(of path: String, _ store: WorkerStore) throws -> String {
    let repository = Repository(try store.context.open(path, .readOnly, .silent))
    defer { try? repository.close() }
    return try CommitScript.read(repository).digest
  }

  /// Reads a store, adds a transaction, opens it again, and returns what it contained at first.
  private static func added(_ script: CommitScript, to path: String, _ store: WorkerStore) throws
    -> CommitScript.State
  {
    var repository = try store.open(at: path)
    let first = try CommitScript.read(repository)
    // Not a number of the script.
    let number = 1_000_003
    var expected = first
    try script.apply(number, to: &expected)
    try script.apply(number, to: repository)
    try repository.close()
    repository = try store.open(at: path)
    let second = try CommitScript.read(repository)
    try repository.close()
    guard second == expected else {
      throw WorkerProcess.Failure(
        description:
          "a transaction after the recovery was acknowledged, and is not in the store when it opens again")
    }
    return first
  }
}
