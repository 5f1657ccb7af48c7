public import Foundation
import PersistenceConformance

/// The real tool, as a process.
///
/// Waiting for it blocks the thread. A test that suspended instead could resume late, while other tests hold
/// the cooperative pool.
public final class ToolProcess {
  /// A condition that did not become true.
  public struct Failure: Error, CustomStringConvertible {
    /// The condition, and the output of the tool.
    public let description: String
  }

  private let process: Process
  private let folder: URL

  /// Starts the tool.
  ///
  /// - Parameters:
  ///   - arguments: Its arguments.
  ///   - environment: Additional environment variables.
  ///   - messages: Receives standard error instead of a readable file.
  /// - Throws: ``Failure`` if the tool has not been built, and errors of starting it.
  public init(_ arguments: [String], environment: [String: String] = [:], messages: FileHandle? = nil) throws
  {
    guard let tool = WorkerProgram.besideThisProgram("persistence") else {
      throw Failure(description: "the tool is not beside the program of the tests")
    }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tool-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    (process, _) = try Process.started { process in
      process.executableURL = tool.executable
      process.arguments = arguments
      process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = try Self.file(at: folder.appendingPathComponent("output"))
      let written = try Self.file(at: folder.appendingPathComponent("messages"))
      process.standardError = messages ?? written
    }
    self.folder = folder
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    try? FileManager.default.removeItem(at: folder)
  }

  private static func file(at url: URL) throws -> FileHandle {
    try Data().write(to: url)
    return try FileHandle(forWritingTo: url)
  }

  /// The process identifier.
  public var identifier: Int32 { process.processIdentifier }

  /// The standard output.
  public var output: String { text("output") }

  /// The standard error.
  public var messages: String { text("messages") }

  private func text(_ name: String) -> String {
    String(decoding: (try? Data(contentsOf: folder.appendingPathComponent(name))) ?? Data(), as: UTF8.self)
  }

  /// Sends a signal.
  public func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  /// Kills the process.
  public func killed() {
    send(SIGKILL)
    process.waitUntilExit()
  }

  /// Waits for text on standard error.
  ///
  /// - Parameter text: The text.
  /// - Throws: ``Failure`` if the process ends without it, or after half a minute.
  public func waits(for text: String) throws {
    try waits("it said “\(text)”") {
      if messages.contains(text) { return true }
      guard !process.isRunning, !messages.contains(text) else { return false }
      throw Failure(description: "the tool ended with \(process.terminationStatus): \(messages)")
    }
  }

  /// Waits for the end of the process.
  ///
  /// - Returns: The exit code; nil if a signal ended the process.
  /// - Throws: ``Failure`` after half a minute.
  public func ended() throws -> Int32? {
    try waits("it ended") { !process.isRunning }
    return process.terminationReason == .exit ? process.terminationStatus : nil
  }

  private func waits(_ what: String, until isSo: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(30)
    while try !isSo() {
      guard ContinuousClock.now < deadline else {
        throw Failure(description: "half a minute passed before \(what): \(messages)")
      }
      Thread.sleep(forTimeInterval: 0.01)
    }
  }
}

extension ToolProcess {
  /// Starts `serve` on a free port and waits until it listens.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of `serve`, without `--listen`.
  ///   - environment: Additional environment variables.
  ///   - host: The address to listen on.
  /// - Returns: The server and its port.
  /// - Throws: ``Failure``.
  public static func serving(
    _ arguments: [String], environment: [String: String] = [:], host: String = "127.0.0.1"
  ) throws -> (server: ToolProcess, port: Int) {
    let server = try ToolProcess(
      ["serve"] + arguments + ["--listen", "\(host):0"], environment: environment)
    try server.waits(for: "serving ")
    let line = server.messages.split(separator: "\n").first { $0.hasPrefix("serving ") } ?? ""
    guard let port = line.split(separator: ":").last.flatMap({ Int($0) }) else {
      throw Failure(description: "no port is named: \(server.messages)")
    }
    return (server, port)
  }
}
