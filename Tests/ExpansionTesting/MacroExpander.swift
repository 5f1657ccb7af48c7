package import ExpansionMessages
import Foundation
import PersistenceConformance
import PersistenceDriverSupport

/// The program `ExpansionProbe`, which expands sources one after another.
package final class MacroExpander: Sendable {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  private struct Pipes: Sendable {
    let process: Process
    let requests: FileHandle
    let answers: FileHandle
  }

  /// Nil until the first request.
  private let pipes = Lock<Pipes?>(nil)

  package init() {}

  deinit { pipes.withLock { try? $0?.requests.close() } }

  /// Expands a source.
  ///
  /// - Throws: ``Failure`` if the program is missing or has ended.
  package func answer(_ request: ExpansionRequest) throws -> ExpansionAnswer {
    try pipes.withLock { pipes in
      let running = try pipes ?? Self.start()
      pipes = running
      try running.requests.write(contentsOf: JSONEncoder().encode(request) + Data("\n".utf8))
      var line = Data()
      while line.last != UInt8(ascii: "\n") {
        let bytes = running.answers.availableData
        guard !bytes.isEmpty else { throw Failure(description: "ExpansionProbe ended without an answer") }
        line += bytes
      }
      return try JSONDecoder().decode(ExpansionAnswer.self, from: line)
    }
  }

  private static func start() throws -> Pipes {
    let (process, pipes) = try Process.started { process in
      process.executableURL = try program()
      let pipes = (requests: Pipe(), answers: Pipe())
      process.standardInput = pipes.requests
      process.standardOutput = pipes.answers
      return pipes
    }
    return Pipes(
      process: process, requests: pipes.requests.fileHandleForWriting,
      answers: pipes.answers.fileHandleForReading)
  }

  /// The program, in the build folder of this process.
  private static func program() throws -> URL {
    var folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    while folder.path != "/" {
      folder.deleteLastPathComponent()
      let program = folder.appendingPathComponent("ExpansionProbe-tool")
      if FileManager.default.isExecutableFile(atPath: program.path) { return program }
    }
    throw Failure(description: "there is no ExpansionProbe-tool in a folder of \(CommandLine.arguments[0])")
  }
}
