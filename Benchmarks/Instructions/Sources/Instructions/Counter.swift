import Foundation

/// Runs this program under Callgrind, one process for each engine.
struct Counter {
  /// An operation of the library, and its instructions for one unit.
  struct Count {
    let name: String
    let unit: String
    let instructions: Int
    /// The number of counted units.
    let units: Int
    /// The output file of Callgrind.
    let dump: String
  }

  private let folder: String

  init(folder: String) throws {
    self.folder = folder
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  func counts(of engine: Engine) throws -> [Count] {
    let place = "\(folder)/\(engine)"
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "valgrind", "--quiet", "--tool=callgrind", "--callgrind-out-file=\(place)/counts",
      "--toggle-collect=\(symbol)", "--dump-after=\(symbol)",
      CommandLine.arguments[0], "work", engine.rawValue, place,
    ]
    // Gives hash tables the same layout in every run.
    process.environment = ProcessInfo.processInfo.environment
      .merging(["SWIFT_DETERMINISTIC_HASHING": "1"]) { $1 }
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure("\(engine) was not counted") }
    let lines = String(decoding: output, as: UTF8.self).split(separator: "\n")
    return try lines.enumerated().map { number, line in
      let parts = line.split(separator: "\t").map(String.init)
      guard parts.count == 3, let units = Int(parts[2]) else {
        throw Failure("“\(line)” is not an operation")
      }
      let dump = "\(place)/counts.\(number + 1)"
      return Count(
        name: "\(engine): \(parts[0])", unit: parts[1], instructions: try total(dump) / units, units: units,
        dump: dump)
    }
  }

  /// Returns Callgrind's count up to a dump.
  private func total(_ path: String) throws -> Int {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let line = text.split(separator: "\n").last { $0.hasPrefix("totals: ") || $0.hasPrefix("summary: ") }
    guard let total = line?.split(separator: " ").last.flatMap({ Int($0) }), total > 0 else {
      throw Failure("\(path) has no counts by Callgrind")
    }
    return total
  }
}
