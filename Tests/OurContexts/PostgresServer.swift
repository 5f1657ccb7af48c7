#if Postgres
  package import Foundation
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

    /// The folder of PostgreSQL's programs; nil if they are not installed.
    package static let programs: String? = {
      let started = try? startShell([script.path]) { shell in
        let output = Pipe()
        (shell.standardInput, shell.standardOutput) = (FileHandle.nullDevice, output)
        return output
      }
      guard let (search, output) = started else { return nil }
      let data = output.fileHandleForReading.readDataToEndOfFile()
      search.waitUntilExit()
      guard search.terminationStatus == 0 else { return nil }
      return String(decoding: data, as: UTF8.self).split(separator: "\n").first.map(String.init)
    }()

    private static func startShell<Pipes>(
      _ arguments: [String], connect: (Process) throws -> Pipes
    ) throws -> (Process, Pipes) {
      try Process.started { shell in
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = arguments
        shell.standardOutput = FileHandle.nullDevice
        shell.standardError = FileHandle.nullDevice
        return try connect(shell)
      }
    }

    /// Starts a shell with a pipe as its input, which ends when the returned descriptor is closed or this process ends.
    package static func startShell(_ arguments: [String]) throws -> (shell: Process, input: Int32) {
      let (shell, ends) = try startShell(arguments) { shell in
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0, ends.allSatisfy({ fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }) else {
          throw PersistenceError.system(errno, while: "make", at: "a pipe")
        }
        shell.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: false)
        return ends
      }
      close(ends[0])
      return (shell, ends[1])
    }

    /// The path of a folder that does not exist yet, for servers.
    package static func newFolder() -> String {
      // The path of a socket has about a hundred bytes at most.
      "/tmp/persistence-pg-\(UUID().uuidString.prefix(8))"
    }

    /// Starts a server, and waits until it accepts connections.
    package init() throws {
      folder = Self.newFolder()
      let settings = [
        "fsync=off", "max_connections=400", "max_locks_per_transaction=512", "autovacuum_naptime=10s",
      ]
      let (shell, input) = try Self.startShell(
        [Self.script.path, folder] + settings.flatMap { ["-c", $0] })
      self.input = input
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
