import Foundation
import PersistenceConformance
import Testing

/// A migration in another process, which the test may kill.
struct WorkerRun {
  /// The lines that the worker printed.
  var lines: [String]
  /// Whether the worker exited by itself.
  var isFinished: Bool

  /// Runs the worker.
  ///
  /// - Parameters:
  ///   - arguments: The worker's arguments.
  ///   - delay: The time until the kill in microseconds; nil for none.
  /// - Throws: An error if the worker cannot be started.
  init(_ arguments: [String], killedAfter delay: UInt32?) throws {
    let (process, output) = try Process.started { process in
      process.executableURL = Self.executable
      process.arguments = arguments
      var environment = ProcessInfo.processInfo.environment
      environment["SWIFT_BACKTRACE"] = "enable=no"
      process.environment = environment
      let output = Pipe()
      process.standardOutput = output
      return output
    }
    if let delay {
      usleep(delay)
      kill(process.processIdentifier, SIGKILL)
    }
    let said = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    lines = String(decoding: said, as: UTF8.self).split(separator: "\n").map(String.init)
    isFinished = process.terminationReason == .exit
  }

  /// The executable beside the tests.
  static var executable: URL {
    var folder = Bundle.main.bundleURL
    // On Linux the tests are an executable in the folder, on Apple systems a bundle.
    while !FileManager.default.isExecutableFile(
      atPath: folder.appendingPathComponent("MigrationWorker").path),
      folder.path != "/"
    {
      folder.deleteLastPathComponent()
    }
    return folder.appendingPathComponent("MigrationWorker")
  }
}
