import ToolProcess

/// The real server as a process, which a test can kill and restart on the same port.
final class Server {
  let store: String
  let port: Int
  private var process: ToolProcess?
  private(set) var starts = 0

  init(store: String) {
    self.store = store
    // Below the ephemeral ports, one of which could take this port while the server is down.
    port = Int.random(in: 10_000..<32_000)
  }

  var url: String { "http://127.0.0.1:\(port)" }

  /// Starts the server and waits until it listens.
  func start() throws {
    let process = try ToolProcess(["serve", store, "--listen", "127.0.0.1:\(port)", "--without-tokens"])
    try process.waits(for: "serving ")
    self.process = process
    starts += 1
  }

  /// Kills the server.
  func kill() {
    process?.killed()
    process = nil
  }
}
