import ToolProcess

/// The real server, as a process that is killed and started again at the same port.
final class Server {
  let store: String
  let port: Int
  private var process: ToolProcess?
  private(set) var starts = 0

  init(store: String) {
    self.store = store
    // Below the ports that systems take for connections to others, which might hold this one while it is down.
    port = Int.random(in: 10_000..<32_000)
  }

  var url: String { "http://127.0.0.1:\(port)" }

  /// Starts it, and waits until it listens.
  func start() throws {
    let process = try ToolProcess(["serve", store, "--listen", "127.0.0.1:\(port)", "--without-tokens"])
    try process.waits(for: "serving ")
    self.process = process
    starts += 1
  }

  /// Ends it at once, whatever it is doing.
  func kill() {
    process?.killed()
    process = nil
  }
}
