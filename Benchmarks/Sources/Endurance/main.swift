// Endurance of durable engines: kills a writing process at random moments, and lets several processes write
// and read one store. It checks every rule through the public API.
//
//   swift run --package-path Benchmarks Endurance [KILLS] [ENGINE…]

import Foundation
import Logging
import PersistenceCore
import PersistenceJSON
import PersistenceLMDB
import PersistenceSQLite
import SeededRandom

#if canImport(Glibc)
  import Glibc
#endif

SQLiteLibrary.tuneForParallelReads()
let engines: [StorageEngine] = [.sqlite, .lmdb, .json]
let arguments = CommandLine.arguments

func open(_ url: String) throws -> any PersistentRepository {
  // Silent, because each opening after a kill reports a recovery.
  var logger = Logger(label: "endurance")
  logger.logLevel = .error
  return try Repository(opening: url, engines: engines, monitoring: Monitoring(logger: logger))
}

func say(_ text: String) {
  FileHandle.standardOutput.write(Data((text + "\n").utf8))
}

func check(_ condition: Bool, _ message: @autoclosure () -> String) {
  guard !condition else { return }
  say("BROKEN: \(message())")
  exit(1)
}

/// Writes versions, each with three records of two models in one transaction, and prints each commit.
func writeVersions(_ url: String) throws {
  let repository = try open(url)
  var version = try repository.find(Mark.self, id: 0)?.version ?? 0
  while true {
    version += 1
    try repository.transaction { store in
      for id in 0..<3 { try store.save(Mark(id: id, version: version, tag: "m\(id)-\(version)")) }
      try store.transaction { inner in
        for id in 0..<3 {
          try inner.save(Echo(id: id, version: version, text: String(repeating: "é", count: 300)))
        }
      }
      if version % 5 == 0 { try store.insert(Mark(id: 100 + version, version: version, tag: nil)) }
    }
    say("\(version)")
  }
}

/// Makes a number of transfers between accounts.
func transfer(_ url: String, times: Int, seed: UInt64) throws {
  let repository = try Repository(opening: url, engines: engines)
  var generator = SplitMix(state: seed)
  for _ in 0..<times {
    let (from, to) = (Int.random(in: 0..<10, using: &generator), Int.random(in: 10..<20, using: &generator))
    try repository.transaction { store in
      try store.write(Account.self, id: from) { $0.balance -= 1 }
      try store.write(Account.self, id: to) { $0.balance += 1 }
      try store.write(Account.self, id: 99) { $0.transfers += 1 }
    }
  }
}

func child(_ words: [String], output: Pipe? = nil) throws -> Process {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: arguments[0])
  process.arguments = words
  if let output { process.standardOutput = output }
  try process.run()
  return process
}

func kills(_ url: String, _ count: Int) throws {
  var generator = SplitMix(state: 42)
  var (atAcknowledged, inFlight) = (0, 0)
  for round in 0..<count {
    let pipe = Pipe()
    let process = try child(["versions", url], output: pipe)
    var output = pipe.fileHandleForReading.availableData  // waits for the first acknowledgement
    usleep(UInt32.random(in: 0..<20_000, using: &generator))
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    output.append(pipe.fileHandleForReading.readDataToEndOfFile())
    let acknowledged =
      String(decoding: output, as: UTF8.self).split(separator: "\n").compactMap { Int($0) }.max() ?? 0
    let repository = try open(url)
    let marks = Array(try repository.filter(Mark.self).result())
    let echoes = Array(try repository.filter(Echo.self).result())
    let versions = Set(marks.prefix(3).map(\.version) + echoes.map(\.version))
    check(
      versions.count == 1 && echoes.count == 3, "round \(round): a transaction is incomplete: \(versions)")
    let version = versions.first ?? 0
    check(
      version == acknowledged || version == acknowledged + 1,
      "round \(round): \(acknowledged) was acknowledged, \(version) is stored")
    let extra = marks.dropFirst(3).map(\.version)
    check(
      extra == Array(stride(from: 5, through: version, by: 5)),
      "round \(round): the number of records is wrong")
    let tagged = try repository.filter(Mark.self, where: \.tag == "m1-\(version)").count()
    check(tagged == 1, "round \(round): the unique index and the records differ")
    if version == acknowledged { atAcknowledged += 1 } else { inFlight += 1 }
    try (repository as? Repository)?.close()
  }
  say(
    "  \(count) kills: the store opened each time and held \(atAcknowledged) times what was acknowledged, "
      + "\(inFlight) times that and the one in flight, whole")
}

func crowds(_ url: String, processes: Int, times: Int) throws {
  let repository = try open(url)
  try repository.save(contentsOf: (0..<20).map { Account(id: $0, balance: 1000, transfers: 0) })
  try repository.save(Account(id: 99, balance: 0, transfers: 0))
  let writers = try (0..<processes).map { try child(["transfer", url, "\(times)", "\($0)"]) }
  var snapshots = 0
  while writers.contains(where: \.isRunning) {
    let accounts = Array(try repository.filter(Account.self).result())
    check(accounts.reduce(0) { $0 + $1.balance } == 20_000, "a snapshot is inconsistent")
    snapshots += 1
  }
  for writer in writers { check(writer.terminationStatus == 0, "a writer failed") }
  let done = try repository.find(Account.self, id: 99)?.transfers
  check(done == processes * times, "\(processes * times) transfers were made, \(done ?? 0) are stored")
  say(
    "  \(processes) processes, \(times) transfers each: none lost; \(snapshots) snapshots beside them, none torn"
  )
}

switch arguments.dropFirst().first {
case "versions": try writeVersions(arguments[2])
case "transfer":
  try transfer(arguments[2], times: Int(arguments[3]) ?? 0, seed: UInt64(arguments[4]) ?? 0)
case let count:
  let chosen = arguments.dropFirst(2)
  for engine in engines where chosen.isEmpty || chosen.contains(engine.scheme) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "endurance-\(UUID().uuidString)"
    ).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    say(engine.scheme)
    try kills("\(engine.scheme):\(folder)/killed", count.flatMap { Int($0) } ?? 200)
    try crowds("\(engine.scheme):\(folder)/crowded?busy=60s", processes: 3, times: 100)
  }
}
