import Foundation
import Synchronization

/// The worker process as the suite sees it: its lines of output, and its end.
package final class WorkerProcess: Sendable {
  package struct Ending: Sendable, Equatable {
    package var status: Int32
    package var isSignal: Bool

    package static let success = Ending(status: 0, isSignal: false)
  }

  package struct Failure: Error, CustomStringConvertible { package var description: String }

  private let process = Mutex<Running?>(nil)
  private let received = Mutex<(lines: [String], isOver: Bool)>(([], false))
  private let more = DispatchSemaphore(value: 0)
  private let standardInput: Pipe

  private struct Running: @unchecked Sendable {  // used under the lock only, after it was started
    let process: Process
  }

  init(_ program: WorkerProgram, _ arguments: [String], environment additions: [String: String] = [:]) throws
  {
    let (process, pipes) = try Process.started { process in
      process.executableURL = program.executable
      process.arguments = program.arguments + arguments
      let pipes = (input: Pipe(), output: Pipe())
      process.standardInput = pipes.input
      process.standardOutput = pipes.output
      process.standardError = FileHandle.standardError
      var environment = ProcessInfo.processInfo.environment
      environment["SWIFT_BACKTRACE"] = "enable=no"
      environment.merge(additions) { $1 }
      process.environment = environment
      return pipes
    }
    standardInput = pipes.input
    let output = pipes.output
    let running = Running(process: process)
    self.process.withLock { $0 = running }
    Thread.detachNewThread { [self] in
      var rest = Data()
      while true {
        let data = output.fileHandleForReading.availableData
        if data.isEmpty { break }
        rest += data
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          let line = String(decoding: rest[..<end], as: UTF8.self)
          rest = Data(rest[rest.index(after: end)...])
          received.withLock { $0.lines.append(line) }
          more.signal()
        }
      }
      received.withLock { $0.isOver = true }
      more.signal()
    }
  }

  package var lines: [String] { received.withLock { $0.lines } }

  /// The number of the last acknowledged transaction; 0 if there is none.
  package var acknowledged: Int {
    lines.last { $0.hasPrefix("ack ") }.flatMap { Int($0.dropFirst(4)) } ?? 0
  }

  /// Waits for a line with the prefix, and returns the rest of that line.
  @discardableResult
  package func wait(for prefix: String, seconds: Double = 60) throws -> String {
    let end = Date(timeIntervalSinceNow: seconds)
    while true {
      let (line, isOver) = received.withLock { state in
        (state.lines.first { $0.hasPrefix(prefix) }, state.isOver)
      }
      if let line { return String(line.dropFirst(prefix.count)).trimmingCharacters(in: .whitespaces) }
      guard !isOver, Date() < end else {
        throw Failure(description: "the worker did not print “\(prefix)”; its last lines: \(lines.suffix(5))")
      }
      _ = more.wait(timeout: .now() + 0.5)
    }
  }

  /// Kills the worker (SIGKILL), waits for its end and reads its remaining lines.
  package func kill() {
    process.withLock { running in
      if let running { _ = Foundation.kill(running.process.processIdentifier, SIGKILL) }
    }
    _ = waitUntilOver()
  }

  /// Sends an empty line, for which the worker waits.
  func proceed() { standardInput.fileHandleForWriting.write(Data("\n".utf8)) }

  package func release() { try? standardInput.fileHandleForWriting.close() }

  /// Waits for the worker's end and reads its remaining lines.
  @discardableResult
  package func waitUntilOver() -> Ending {
    let running = process.withLock { $0 }
    running?.process.waitUntilExit()
    while !received.withLock({ $0.isOver }) { _ = more.wait(timeout: .now() + 0.5) }
    return Ending(
      status: running?.process.terminationStatus ?? -1,
      isSignal: running?.process.terminationReason == .uncaughtSignal)
  }
}
