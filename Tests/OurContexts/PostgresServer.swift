#if Postgres
  import Foundation
  import PersistenceConformance
  import PersistenceDriverSupport
  import PersistencePostgres

  /// A PostgreSQL server that the script `.ci/postgres-server` runs, without a port and without synchronizing files.
  ///
  /// It stops when the process ends in whatever way, because the script waits for the end of a pipe that only this process
  /// holds. It starts again after a crash.
  package final class PostgresServer: Sendable {
    /// The URL of the server's database.
    package let url: String

    /// The folder of the socket and the files.
    package let folder: String

    private let input: Int32

    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(".ci/postgres-server")

    /// Whether PostgreSQL's programs are installed.
    package static let isInstalled: Bool = {
      guard let search = try? shell([], FileHandle.nullDevice) else { return false }
      search.waitUntilExit()
      return search.terminationStatus == 0
    }()

    private static func shell(_ arguments: [String], _ input: FileHandle) throws -> Process {
      let shell = Process()
      shell.executableURL = URL(fileURLWithPath: "/bin/sh")
      shell.arguments = [script.path] + arguments
      shell.standardInput = input
      shell.standardOutput = FileHandle.nullDevice
      shell.standardError = FileHandle.nullDevice
      try shell.run()
      return shell
    }

    /// Starts a server, and waits until it accepts connections.
    package init() throws {
      // The path of a socket has about a hundred bytes at most.
      folder = "/tmp/persistence-pg-\(UUID().uuidString.prefix(8))"
      var ends: [Int32] = [0, 0]
      guard pipe(&ends) == 0, ends.allSatisfy({ fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }) else {
        throw PersistenceError.system(errno, while: "make", at: "a pipe")
      }
      input = ends[1]
      let settings = [
        "fsync=off", "max_connections=400", "max_locks_per_transaction=512", "autovacuum_naptime=10s",
      ]
      let shell = try Self.shell(
        [folder] + settings.flatMap { ["-c", $0] },
        FileHandle(fileDescriptor: ends[0], closeOnDealloc: false))
      close(ends[0])
      url = "postgres:///postgres?host=\(folder)&user=postgres"
      try waitUntilReady { shell.isRunning }
    }

    /// Waits until the server accepts connections, as long as a condition holds.
    package func waitUntilReady(_ isRunning: () -> Bool = { true }) throws {
      let deadline = ContinuousClock.now + .seconds(120)
      while true {
        do {
          return try PostgresContext(url: url).close()
        } catch {
          guard ContinuousClock.now < deadline, isRunning() else { throw error }
          usleep(50_000)
        }
      }
    }

    /// Kills the server's main process (SIGKILL), after which the others end; the script starts it again.
    package func kill() {
      let lines = (try? String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8)) ?? ""
      guard let line = lines.split(separator: "\n").first, let process = Int32(line), process > 1 else {
        return
      }
      _ = Foundation.kill(process, SIGKILL)
    }

    /// Stops the server, and removes its files.
    package func stop() { close(input) }
  }
#endif
