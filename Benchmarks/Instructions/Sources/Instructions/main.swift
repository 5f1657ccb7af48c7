// Counts the library's instructions for a row, a get or an insert with Callgrind, independent of the
// machine's speed, and compares them with recorded counts.
//
//   Instructions check|record FILE
//   Instructions profile [ENGINE …]     the functions that use them

import Foundation
import PersistenceSQLite

/// Runs an engine's operations, each once to warm the caches and once for the count, and prints the results.
func work(_ engine: Engine, _ folder: String) throws {
  for part in try KeyPaths(engine, in: folder).all() {
    let first = try part.run()
    try part.restore()
    var second = 0
    try measured { second = try part.run() }
    try part.restore()
    guard first == part.answer, second == part.answer else {
      throw Failure("\(engine): \(part.name) gave \(first) and \(second), not \(part.answer)")
    }
    print("\(part.name)\t\(part.unit)\t\(part.units)")
  }
}

func run(_ arguments: [String]) throws -> Bool {
  if arguments.count == 3, arguments[0] == "work", let engine = Engine(rawValue: arguments[1]) {
    try work(engine, arguments[2])
    return true
  }
  let folder = FileManager.default.temporaryDirectory.path + "/persistence-instructions-\(getpid())"
  defer { try? FileManager.default.removeItem(atPath: folder) }
  let counter = try Counter(folder: folder)
  if arguments.first == "profile" {
    let engines = try arguments.dropFirst().map { name in
      guard let engine = Engine(rawValue: name) else { throw Failure("unknown engine “\(name)”") }
      return engine
    }
    for engine in engines.isEmpty ? Engine.allCases : engines {
      for count in try counter.counts(of: engine) { print(try Profile(of: count).table) }
    }
    return true
  }
  guard arguments.count == 2, ["check", "record"].contains(arguments[0]) else {
    throw Failure("usage: Instructions check|record FILE, or profile [ENGINE …]")
  }
  let counts = try Engine.allCases.flatMap { try counter.counts(of: $0) }
  if arguments[0] == "record" { try Thresholds(recording: counts).write(arguments[1]) }
  let (table, isGood) = try Thresholds.read(arguments[1]).check(counts)
  print(table)
  return isGood
}

SQLiteLibrary.tuneForParallelReads()
do { exit(try run(Array(CommandLine.arguments.dropFirst())) ? 0 : 1) } catch {
  FileHandle.standardError.write(Data("Instructions: \(error)\n".utf8))
  exit(1)
}
