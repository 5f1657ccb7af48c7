import Foundation

/// Has this program counted by Callgrind, a process for each engine.
struct Counter {
  /// A way through the library, and how many instructions one of its units takes.
  struct Count {
    let name: String
    let unit: String
    let instructions: Int
    /// How many units were counted.
    let units: Int
    /// The file that Callgrind wrote.
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
    // Hash tables are laid out alike in every run.
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
      guard parts.count == 3, let units = Int(parts[2]) else { throw Failure("“\(line)” is no work") }
      let dump = "\(place)/counts.\(number + 1)"
      return Count(
        name: "\(engine): \(parts[0])", unit: parts[1], instructions: try total(dump) / units, units: units,
        dump: dump)
    }
  }

  /// What Callgrind counted until a dump.
  private func total(_ path: String) throws -> Int {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let line = text.split(separator: "\n").last { $0.hasPrefix("totals: ") || $0.hasPrefix("summary: ") }
    guard let total = line?.split(separator: " ").last.flatMap({ Int($0) }), total > 0 else {
      throw Failure("Callgrind counted nothing in \(path)")
    }
    return total
  }
}
