import Foundation
import Testing

/// A migration in another process, which is killed after some time or runs to its end.
struct WorkerRun {
  /// What it said, line by line.
  var lines: [String]
  /// Whether it ended by itself.
  var isFinished: Bool

  /// Runs the worker.
  ///
  /// - Parameters:
  ///   - arguments: What it is told.
  ///   - delay: After how many microseconds it is killed; never where it is nil.
  /// - Throws: Where it cannot be started.
  init(_ arguments: [String], killedAfter delay: UInt32?) throws {
    let process = Process()
    process.executableURL = Self.executable
    process.arguments = arguments
    var environment = ProcessInfo.processInfo.environment
    environment["SWIFT_BACKTRACE"] = "enable=no"
    process.environment = environment
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    if let delay {
      usleep(delay)
      kill(process.processIdentifier, SIGKILL)
    }
    let said = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    lines = String(decoding: said, as: UTF8.self).split(separator: "\n").map(String.init)
    isFinished = process.terminationReason == .exit
  }

  /// The program beside the tests.
  static var executable: URL {
    var folder = Bundle.main.bundleURL
    // On Linux the tests are a program of the folder, on Apple systems a bundle in it.
    while !FileManager.default.isExecutableFile(
      atPath: folder.appendingPathComponent("MigrationWorker").path),
      folder.path != "/"
    {
      folder.deleteLastPathComponent()
    }
    return folder.appendingPathComponent("MigrationWorker")
  }
}
