// Measures the first ten movies of many, each in a new process: the time from opening the store to ten
// movies, and the additional memory over an empty process. The goal applies to new processes. The next column
// repeats it after eviction of the store's files from the system's cache, which measures the disk. Then it
// reads a million movies in sequence, and measures the process's private memory, without mapped files.
//
//   swift run -c release FirstTen [FOLDER]         makes the stores (once) and prints the table

import Foundation
import Movies
import PersistenceCore
import PersistenceLMDB
import PersistenceSQLite
import SilentLogging

#if canImport(Glibc)
  import Glibc
#endif

SQLiteLibrary.tuneForParallelReads()
let engines: [StorageEngine] = [.sqlite, .lmdb]
let arguments = CommandLine.arguments
let quiet = Monitoring(logger: .init(label: "benchmark") { _ in SilentLog() })

/// The measurements of a child process.
struct Measurement: Codable {
  var milliseconds: Double
  var peakKilobytes: Int
  var rows: Int
  /// The peak of private memory in kilobytes, or of all memory if the system does not distinguish them.
  var ownKilobytes = 0
}

#if os(Linux)
  /// Returns a value from the system's status of this process, in kilobytes.
  func status(_ name: String) -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
    return Int(line.filter(\.isNumber)) ?? 0
  }
#endif

/// The private memory of this process, in kilobytes.
func ownMemory() -> Int {
  #if os(Linux)
    status("RssAnon:")
  #else
    peakMemory()
  #endif
}

/// The peak memory of this process, in kilobytes.
func peakMemory() -> Int {
  #if os(Linux)
    // Not ru_maxrss, which a process inherits from its parent.
    status("VmHWM:")
  #else
    var usage = rusage()
    getrusage(RUSAGE_SELF, &usage)
    return usage.ru_maxrss / 1024
  #endif
}

func report(_ measurement: Measurement) throws {
  print(String(decoding: try JSONEncoder().encode(measurement), as: UTF8.self))
}

/// Opens a store and returns all its movies, as an app does.
func movies(_ url: String, sorted: Bool) throws -> AnyCollection<Movie> {
  let repository: any PersistentRepository = try Repository(
    opening: url, engines: engines, monitoring: quiet)
  var query = repository.filter(Movie.self)
  if sorted { query = query.sorted(by: \.title) }
  return AnyCollection(try query.result())
}

func read(_ url: String, sorted: Bool) throws -> Measurement {
  let clock = ContinuousClock()
  var rows = 0
  let duration = try clock.measure {
    for movie in try movies(url, sorted: sorted).prefix(10) where !movie.title.isEmpty { rows += 1 }
  }
  let milliseconds =
    Double(duration.components.attoseconds) / 1e15 + Double(duration.components.seconds) * 1000
  return Measurement(milliseconds: milliseconds, peakKilobytes: peakMemory(), rows: rows)
}

/// Reads all movies in sequence, through the lazy collection.
func readAll(_ url: String, sorted: Bool) throws -> Measurement {
  let clock = ContinuousClock()
  var measurement = Measurement(milliseconds: 0, peakKilobytes: 0, rows: 0)
  let duration = try clock.measure {
    for movie in try movies(url, sorted: sorted) where !movie.title.isEmpty {
      measurement.rows += 1
      if measurement.rows.isMultiple(of: 1000) {
        measurement.ownKilobytes = max(measurement.ownKilobytes, ownMemory())
      }
    }
  }
  measurement.milliseconds =
    Double(duration.components.attoseconds) / 1e15 + Double(duration.components.seconds) * 1000
  measurement.peakKilobytes = peakMemory()
  return measurement
}

/// Evicts a store's files from the system's cache, so that the next read is cold.
func chill(_ path: String) {
  #if canImport(Glibc)
    var files = [path]
    for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
      files.append("\(path)/\(name)")
    }
    for file in files {
      let descriptor = open(file, O_RDONLY)
      guard descriptor >= 0 else { continue }
      fsync(descriptor)
      posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
      close(descriptor)
    }
  #endif
}

func prepare(_ url: String, rows: Int) throws {
  let repository = try Repository(opening: url, engines: engines, monitoring: quiet)
  if try repository.count(Movie.self) == rows { return }
  try repository.deleteAll(Movie.self)
  FileHandle.standardError.write(Data("making \(url) with \(rows) movies…\n".utf8))
  for start in stride(from: 0, to: rows, by: 50_000) {
    try repository.save(contentsOf: (start..<min(rows, start + 50_000)).map(Movie.init(number:)))
  }
  try repository.close()
}

func child(_ words: [String]) throws -> Measurement {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: arguments[0])
  process.arguments = words
  let pipe = Pipe()
  process.standardOutput = pipe
  try process.run()
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  return try JSONDecoder().decode(Measurement.self, from: data)
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

func table(folder: String) throws {
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  print("First ten movies, opening included; a new process each; median of 7.")
  print("store                     order       ms   ms, files evicted   MB over an empty process")
  var isGood = true
  // By store and order, for the smallest number of rows.
  var few: [String: Double] = [:]
  for rows in [10_000, 1_000_000] {
    for scheme in ["sqlite", "lmdb"] {
      let path = "\(folder)/movies-\(rows).\(scheme)"
      try prepare("\(scheme):\(path)", rows: rows)
      for order in ["key", "title"] {
        var cold: [Double] = []
        var warm: [Double] = []
        var memory: [Double] = []
        for _ in 0..<7 {
          chill(path)
          let base = try child(["empty"])
          let first = try child(["read", "\(scheme):\(path)", order])
          let second = try child(["read", "\(scheme):\(path)", order])
          guard first.rows == 10, second.rows == 10 else {
            throw PersistenceError(.damaged, "not ten movies")
          }
          cold.append(first.milliseconds)
          warm.append(second.milliseconds)
          memory.append(Double(max(first.peakKilobytes, second.peakKilobytes) - base.peakKilobytes) / 1024)
        }
        if order == "key", median(warm) > 5 || median(memory) > 20 { isGood = false }
        if let least = few[scheme + order], median(memory) > least + 3 { isGood = false }
        few[scheme + order] = few[scheme + order] ?? median(memory)
        let name = "\(scheme), \(rows) rows".padding(toLength: 26, withPad: " ", startingAt: 0)
        print(
          name + order.padding(toLength: 7, withPad: " ", startingAt: 0)
            + String(format: "%7.2f %12.2f %14.1f", median(warm), median(cold), median(memory)))
      }
    }
  }
  let bar = "by key within 5 ms and 20 MB, and no more than 3 MB more of a million than of ten thousand"
  print(isGood ? "Kept: \(bar)." : "NOT kept: \(bar).")
  print("\nAll of a million in sequence; a new process each.")
  print("store                     order        s   MB of its own")
  var staysSmall = true
  for scheme in ["sqlite", "lmdb"] {
    for order in ["key", "title"] {
      let all = try child(["all", "\(scheme):\(folder)/movies-1000000.\(scheme)", order])
      guard all.rows == 1_000_000 else {
        throw PersistenceError(.damaged, "the store has not a million movies")
      }
      let megabytes = Double(all.ownKilobytes) / 1024
      if megabytes > 50 { staysSmall = false }
      let name = "\(scheme), 1000000 rows".padding(toLength: 26, withPad: " ", startingAt: 0)
      print(
        name + order.padding(toLength: 7, withPad: " ", startingAt: 0)
          + String(format: "%7.2f %12.1f", all.milliseconds / 1000, megabytes))
    }
  }
  print(staysSmall ? "Kept: under 50 MB." : "NOT kept: under 50 MB.")
  if !isGood || !staysSmall { exit(1) }
}

switch arguments.dropFirst().first {
case "empty": try report(Measurement(milliseconds: 0, peakKilobytes: peakMemory(), rows: 0))
case "read": try report(try read(arguments[2], sorted: arguments[3] == "title"))
case "all": try report(try readAll(arguments[2], sorted: arguments[3] == "title"))
case let folder:
  try table(folder: folder ?? FileManager.default.temporaryDirectory.path + "/persistence-first-ten")
}
