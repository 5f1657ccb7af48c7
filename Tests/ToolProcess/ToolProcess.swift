public import Foundation
import PersistenceConformance

/// The real tool, as a process of its own.
///
/// Waiting for it blocks: where other tests hold the threads of the cooperative pool, a test that suspended would go on
/// long after what it waited for.
public final class ToolProcess {
  /// What a test waited for in vain.
  public struct Failure: Error, CustomStringConvertible {
    /// What was waited for, and what the tool said.
    public let description: String
  }

  private let process = Process()
  private let folder: URL

  /// Starts the tool.
  ///
  /// - Parameters:
  ///   - arguments: Its arguments.
  ///   - environment: Variables beside those of this process.
  ///   - messages: Where its standard error goes instead of a file that can be read.
  /// - Throws: ``Failure`` where it has not been built, and what keeps it from being started.
  public init(_ arguments: [String], environment: [String: String] = [:], messages: FileHandle? = nil) throws
  {
    guard let tool = WorkerProgram.besideThisProgram("persistence") else {
      throw Failure(description: "the tool is not beside the program of the tests")
    }
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("tool-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    process.executableURL = tool.executable
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try Self.file(at: folder.appendingPathComponent("output"))
    let written = try Self.file(at: folder.appendingPathComponent("messages"))
    process.standardError = messages ?? written
    try process.run()
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    try? FileManager.default.removeItem(at: folder)
  }

  private static func file(at url: URL) throws -> FileHandle {
    try Data().write(to: url)
    return try FileHandle(forWritingTo: url)
  }

  /// What it has printed.
  public var output: String { text("output") }

  /// What it has said on standard error.
  public var messages: String { text("messages") }

  private func text(_ name: String) -> String {
    String(decoding: (try? Data(contentsOf: folder.appendingPathComponent(name))) ?? Data(), as: UTF8.self)
  }

  /// Sends a signal.
  public func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  /// Ends it at once, whatever it is doing.
  public func killed() {
    send(SIGKILL)
    process.waitUntilExit()
  }

  /// Waits until it has said something.
  ///
  /// - Parameter text: What.
  /// - Throws: ``Failure`` where it ends without, or half a minute has passed.
  public func waits(for text: String) throws {
    try waits("it said “\(text)”") {
      if messages.contains(text) { return true }
      guard !process.isRunning, !messages.contains(text) else { return false }
      throw Failure(description: "the tool ended with \(process.terminationStatus): \(messages)")
    }
  }

  /// Waits until it has ended.
  ///
  /// - Returns: The code that it exited with; nil where a signal ended it.
  /// - Throws: ``Failure`` where half a minute has passed.
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
  /// Starts `serve` on a port that is free, and waits until it listens.
  ///
  /// - Parameters:
  ///   - arguments: Those after `serve`, but for `--listen`.
  ///   - environment: Variables beside those of this process.
  ///   - host: Where it listens.
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
