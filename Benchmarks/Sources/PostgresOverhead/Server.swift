import Foundation

/// A private server, which the script of the tests runs until this process ends.
///
/// Unlike that of the tests, it waits for the disk at each commit. It checks and cleans its tables only where the benchmark
/// asks for it.
final class Server {
  let url: String
  private let process = Process()
  private let input = Pipe()

  init() throws {
    // The path of a socket has about a hundred bytes at most.
    let folder = "/tmp/persistence-pg-\(UUID().uuidString.prefix(8))"
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    url = "postgres:///postgres?host=\(folder)&user=postgres"
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments =
      [root.appendingPathComponent(".ci/postgres-server").path, folder]
      + ["autovacuum=off", "max_wal_size=8GB", "checkpoint_timeout=1h"].flatMap { ["-c", $0] }
    process.standardInput = input
    try process.run()
    let deadline = ContinuousClock.now + .seconds(120)
    while true {
      do {
        _ = try RawPostgres(url)
        return
      } catch {
        guard ContinuousClock.now < deadline, process.isRunning else { throw error }
        usleep(50_000)
      }
    }
  }

  /// Stops the server, and waits until its files are removed.
  func stop() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
