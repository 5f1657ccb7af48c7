public import Foundation

/// A program that opens stores of a context as another process, for checks of kills and of several processes.
///
/// Its main function hands the arguments after these to ``ConformanceWorker/run(_:on:)``.
public struct WorkerProgram: Sendable, Hashable {
  /// The executable.
  public let executable: URL

  /// The arguments that come before the worker's own.
  public let arguments: [String]

  /// Names a program.
  ///
  /// - Parameters:
  ///   - executable: The executable.
  ///   - arguments: The arguments that come before the worker's own.
  public init(executable: URL, arguments: [String] = []) {
    self.executable = executable
    self.arguments = arguments
  }

  /// The program of a name in the folder of the running one, or beside the bundle of the running tests: where
  /// SwiftPM puts the executables of a package.
  ///
  /// - Parameters:
  ///   - name: The executable's name.
  ///   - arguments: The arguments that come before the worker's own.
  /// - Returns: The program; nil where there is none of that name.
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
