// The costs of changed schemas, beside those of unchanged ones and of the engines' C interfaces.
//
//   swift run -c release Evolving [--rows N] [--folder FOLDER] [--engine ENGINE] [--part PART]
//
// Medians of interleaved rounds. The program fails if a goal is missed. The ten million of the design's goals:
// --rows 10000000.

import Comparing
import Foundation
import PersistenceCore
import PersistenceSQLite

func say(_ text: String) { print(text) }

func choice(_ words: [String]) -> String { words.joined(separator: "|") }

/// The private memory of this process, in bytes.
func ownMemory() -> Int {
  let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
  return (Int(line.filter(\.isNumber)) ?? 0) << 10
}

/// Opens a store with a version that computes a field; prints the additional private memory in bytes.
func measureMemory(_ scheme: String, _ path: String) throws {
  let store = LibraryStore(scheme, path)
  let before = try store.open()
  _ = try before.count(Grown<Old>.self)
  let start = ownMemory()
  try before.close()
  let peak = Peak(start)
  let sampler = Thread {
    while peak.add(ownMemory()) { usleep(500) }
  }
  sampler.start()
  try store.open(App<Computed1>.self).close()
  say("\(peak.end() - start)")
}

final class Peak: @unchecked Sendable {  // used under its lock only
  private let lock = NSLock()
  private var most: Int
  private var isOver = false

  init(_ start: Int) { most = start }

  /// Adds a sample; returns whether sampling goes on.
  func add(_ bytes: Int) -> Bool {
    lock.withLock {
      most = max(most, bytes)
      return !isOver
    }
  }

  func end() -> Int {
    lock.withLock {
      isOver = true
      return most
    }
  }
}

func memory(_ scheme: String, _ path: String, rows: Int) throws -> Int {
  try LibraryStore(scheme, path).fill(Old.self, rows: rows)
  let process = Process()
  process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
  process.arguments = ["--memory", scheme, path]
  let pipe = Pipe()
  process.standardOutput = pipe
  try process.run()
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  guard process.terminationStatus == 0, let bytes = Int(text) else {
    throw Failure("the memory of \(scheme) was not measured")
  }
  return bytes
}

/// The parts of the measurement.
enum Part: String, CaseIterable {
  case reading, computing, memory
}

/// Measures one engine; returns whether it meets all goals.
func measure(_ scheme: String, _ parts: [Part], rows: Int, _ folder: String) throws -> Bool {
  say("\(scheme), \(rows) records")
  var isGood = true
  for part in parts {
    let path = "\(folder)/\(scheme)-\(part)"
    switch part {
    case .reading: isGood = try measureReading(scheme, path, rows: rows).allSatisfy(\.isMet) && isGood
    case .computing: isGood = try measureComputing(scheme, path, rows: rows).allSatisfy(\.isMet) && isGood
    case .memory:
      let bytes = try memory(scheme, path, rows: rows)
      let isSmall = bytes <= 64 << 20
      say("  private memory of .compute          \(bytes >> 20) MiB (≤ 64 MiB)\(isSmall ? "" : "  MISSED")")
      isGood = isSmall && isGood
    }
  }
  return isGood
}

/// Measures the work of a store that was opened with a later version.
func measureReading(_ scheme: String, _ path: String, rows: Int) throws -> [Comparison] {
  let (old, new) = (LibraryStore(scheme, path + "-old"), LibraryStore(scheme, path + "-new"))
  let plain = LibraryStore(scheme, path + "-plain")
  try old.fill(Old.self, rows: rows)
  try new.fill(Added6.self, rows: rows)
  try plain.fill(Old.self, rows: rows)
  var table: [Comparison] = []
  func add(_ comparison: Comparison) {
    table.append(comparison)
    say("\(comparison)")
  }

  // Each round opens with the next version.
  var versions: [any StoreSchema.Type] = [
    App<Added1>.self, App<Added2>.self, App<Added3>.self, App<Added4>.self, App<Added5>.self,
    App<Added6>.self,
  ]
  let rounds = versions.count - 1
  add(
    try Comparison(
      "opening after an added field", beside: "plain opening", .more(milliseconds: 5), rounds: rounds,
      raw: { try plain.opening(App<Old>.self) }, library: { try old.opening(versions.removeFirst()) }))

  let (oldRows, newRows) = (try old.open(App<Added6>.self), try new.open(App<Added6>.self))
  add(
    try Comparison(
      "scan of records from before", beside: "of new records", .ratio(1.05), rounds: 7,
      raw: { try scan(Added6.self, newRows, rows: rows) },
      library: { try scan(Added6.self, oldRows, rows: rows) }))

  let unchanged = try plain.open(App<Old>.self)
  add(
    try Comparison(
      "scan by an older version", beside: "of its own store", .ratio(1.3), rounds: 7,
      raw: { try scan(Old.self, unchanged, rows: rows) }, library: { try scan(Old.self, oldRows, rows: rows) }
    ))
  add(
    try Comparison(
      "reads by key by an older version", beside: "in its own store", .ratio(1.3), rounds: 7,
      raw: { try find(Old.self, unchanged, rows: rows) }, library: { try find(Old.self, oldRows, rows: rows) }
    ))
  add(
    try Comparison(
      "writes by an older version", beside: "in its own store", .ratio(2), rounds: 7,
      raw: { try save(Old.self, unchanged, rows: rows) }, library: { try save(Old.self, oldRows, rows: rows) }
    ))
  for repository in [oldRows, newRows, unchanged] { try repository.close() }
  return table
}

/// Measures rewrites of all records.
func measureComputing(_ scheme: String, _ path: String, rows: Int) throws -> [Comparison] {
  var table: [Comparison] = []
  func add(_ comparison: Comparison) {
    table.append(comparison)
    say("\(comparison)")
  }

  /// The opening of a store with the next version at each call, which computes one more field.
  func computing(_ name: String) throws -> () throws -> Double {
    let store = LibraryStore(scheme, path + "-\(name)")
    try store.fill(Old.self, rows: rows)
    var computed: [any StoreSchema.Type] = [
      App<Computed1>.self, App<Computed2>.self, App<Computed3>.self, App<Computed4>.self,
    ]
    return { try store.opening(computed.removeFirst()) }
  }
  if scheme == "sqlite" {
    let raw = try RawSQLite(path + "-raw", rows: rows)
    add(
      try Comparison(
        ".compute", beside: "UPDATE with a C function", .ratio(1.5), rounds: 3,
        raw: { try seconds { try raw.compute() } }, library: try computing("computing")))
  } else {
    // Within one transaction, the loop keeps all changed pages in memory, which the library may not.
    let whole = try RawLMDB(path + "-whole", rows: rows)
    let bounded = try RawLMDB(path + "-bounded", rows: rows)
    add(
      try Comparison(
        ".compute", beside: "a C loop in little memory", .ratio(1.5), rounds: 3,
        raw: { try bounded.opening { try $0.computeInLittleMemory() } }, library: try computing("computing")))
    add(
      try Comparison(
        ".compute", beside: "a C loop in one transaction", .none, rounds: 3,
        raw: { try whole.opening { try $0.compute() } }, library: try computing("computing-again")))
  }

  return table
}

var rows = 200_000
var schemes = LibraryStore.schemes
var parts = Part.allCases
let usage = Failure(
  "usage: Evolving [--rows N, at least 10000] [--folder FOLDER] [--engine \(choice(LibraryStore.schemes))] "
    + "[--part \(choice(Part.allCases.map(\.rawValue)))]")
var folder = FileManager.default.temporaryDirectory.path + "/persistence-evolving"
var arguments = Array(CommandLine.arguments.dropFirst())
SQLiteLibrary.tuneForParallelReads()
do {
  if arguments.count == 3, arguments[0] == "--memory" {
    try measureMemory(arguments[1], arguments[2])
    exit(0)
  }
  while arguments.count >= 2 {
    switch (arguments[0], Int(arguments[1])) {
    case ("--rows", let number?) where number >= 10_000: rows = number
    case ("--folder", _): folder = arguments[1]
    case ("--engine", _) where LibraryStore.schemes.contains(arguments[1]): schemes = [arguments[1]]
    case ("--part", _):
      guard let part = Part(rawValue: arguments[1]) else { throw usage }
      parts = [part]
    default: throw usage
    }
    arguments.removeFirst(2)
  }
  guard arguments.isEmpty else { throw usage }
  var isGood = true
  for scheme in schemes {
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    isGood = try measure(scheme, parts, rows: rows, folder) && isGood
    try FileManager.default.removeItem(atPath: folder)
  }
  say(isGood ? "Every goal is met." : "Goals are missed.")
  exit(isGood ? 0 : 1)
} catch {
  FileHandle.standardError.write(Data("Evolving: \(error)\n".utf8))
  exit(1)
}
