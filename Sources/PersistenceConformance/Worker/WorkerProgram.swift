public import Foundation

/// A program that opens stores of a context in another process, for checks of kills and of several processes.
///
/// Its main function passes the arguments after these to ``ConformanceWorker/run(_:on:)``.
public struct WorkerProgram: Sendable, Hashable {
  /// The executable.
  public let executable: URL

  /// The arguments before the worker's own.
  public let arguments: [String]

  /// Creates a worker program.
  ///
  /// - Parameters:
  ///   - executable: The executable.
  ///   - arguments: The arguments before the worker's own.
  public init(executable: URL, arguments: [String] = []) {
    self.executable = executable
    self.arguments = arguments
  }

  /// Finds a program beside the running executable or the running test bundle, where SwiftPM puts a package's
  /// executables.
  ///
  /// - Parameters:
  ///   - name: The executable's name.
  ///   - arguments: The arguments before the worker's own.
  /// - Returns: The program; nil if there is none with that name.
  public static func besideThisProgram(_ name: String, arguments: [String] = []) -> WorkerProgram? {
    var folders = [
      Bundle.main.bundleURL, URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
    ]
    folders += Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
    if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
      folders.insert(URL(fileURLWithPath: path).deletingLastPathComponent(), at: 0)
    }
    return folders.map { $0.appendingPathComponent(name) }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
      .map { WorkerProgram(executable: $0, arguments: arguments) }
  }
}
