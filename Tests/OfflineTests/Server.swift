import Foundation
import PersistenceConformance
import PersistenceCore

/// The real server, as a process that is killed and started again at the same port.
final class Server {
  let store: String
  let port: Int
  private var process: Process?
  private(set) var starts = 0

  init(store: String) {
    self.store = store
    port = Int.random(in: 20_000..<60_000)
  }

  deinit { kill() }

  var url: String { "http://127.0.0.1:\(port)" }

  func start() throws {
    let process = Process()
    guard let tool = WorkerProgram.besideThisProgram("PersistenceCommand") else {
      throw PersistenceError(.missingStore, "the tool is not beside the program of the tests")
    }
    process.executableURL = tool.executable
    process.arguments = ["serve", store, "--listen", "127.0.0.1:\(port)", "--without-tokens"]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    self.process = process
    starts += 1
  }

  /// Ends it at once, whatever it is doing.
  func kill() {
    guard let process else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    self.process = nil
  }
}
