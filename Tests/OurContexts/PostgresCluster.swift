#if Postgres
  package import Foundation
  package import PersistenceConformance
  import PersistenceDriverSupport
  import PersistencePostgres
  import Synchronization

  /// A PostgreSQL server of the tests' own: without a port, and without synchronizing files.
  ///
  /// The first store starts it. It stops when the process ends in whatever way, because a shell waits for the end of a
  /// pipe that only this process holds. Other processes get its URL by the variable `PERSISTENCE_POSTGRES`, which may
  /// also name a server that runs already.
  package enum PostgresCluster {
    private static let variable = "PERSISTENCE_POSTGRES"
    private static let state = Mutex<Result<String, any Error>?>(nil)

    /// Why there is no server; nil if there is one.
    package static let obstacle: String? = {
      if Environment[variable] != nil || programs != nil { return nil }
      return "PostgreSQL's initdb is missing, so no test uses PostgreSQL; install the package postgresql"
    }()

    /// The URL of the server's database for tests.
    package static func url() throws -> String {
      try state.withLock { state in
        let known = state ?? Result { try Environment[variable] ?? start() }
        state = known
        return try known.get()
      }
    }

    /// The folder of initdb and postgres, of the newest version.
    package static let programs: String? = {
      let manager = FileManager.default
      let versions = (try? manager.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
      var folders = versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map {
        "/usr/lib/postgresql/\($0)/bin"
      }
      folders += (Environment["PATH"] ?? "").split(separator: ":").map(String.init)
      folders += ["/opt/homebrew/bin", "/usr/local/bin"]
      return folders.first { folder in
        ["initdb", "postgres"].allSatisfy { manager.isExecutableFile(atPath: folder + "/" + $0) }
      }
    }()

    /// The words before a command that the servers' user runs: a server refuses to run as root.
    package static let user = geteuid() == 0 ? "runuser -u postgres --" : ""

    /// The words before a folder that make the servers' user its owner.
    package static let chown = geteuid() == 0 ? "chown postgres" : ":"

    /// Makes a folder for servers.
    package static func makeFolder() throws -> String {
      // The path of a socket has about a hundred bytes at most.
      let folder = "/tmp/persistence-pg-\(UUID().uuidString.prefix(8))"
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
      return folder
    }

    /// Starts a shell with a pipe as its input, which ends when the returned descriptor is closed or this process ends.
    package static func startShell(_ script: String) throws -> (shell: Process, input: Int32) {
      var ends: [Int32] = [0, 0]
      guard pipe(&ends) == 0, ends.allSatisfy({ fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }) else {
        throw PersistenceError.system(errno, while: "make", at: "a pipe")
      }
      let shell = Process()
      shell.executableURL = URL(fileURLWithPath: "/bin/sh")
      shell.arguments = ["-c", script]
      shell.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: false)
      shell.standardOutput = FileHandle.nullDevice
      shell.standardError = FileHandle.nullDevice
      try shell.run()
      close(ends[0])
      return (shell, ends[1])
    }

    private static func start() throws -> String {
      guard let programs else {
        throw PersistenceError(.unsupported, obstacle ?? "PostgreSQL is missing")
      }
      let folder = try makeFolder()
      let script = """
        set -e
        \(chown) \(folder)
        cd \(folder)
        \(user) \(programs)/initdb -D \(folder)/data -U postgres -A trust -E UTF8 --locale=C --no-sync >\(folder)/log 2>&1
        \(user) \(programs)/postgres -D \(folder)/data -c listen_addresses= -c unix_socket_directories=\(folder) \
          -c fsync=off -c max_connections=400 -c max_locks_per_transaction=512 -c autovacuum_naptime=10s \
          -c log_min_messages=fatal >>\(folder)/log 2>&1 </dev/null &
        read -r _ || true
        kill -INT $(head -n 1 \(folder)/data/postmaster.pid) 2>/dev/null || true
        wait || true
        rm -rf \(folder)
        """
      let shell = try startShell(script).shell
      let url = "postgres:///postgres?host=\(folder)&user=postgres"
      let deadline = ContinuousClock.now + .seconds(120)
      while true {
        do {
          try PostgresContext(url: url).close()
          break
        } catch {
          guard ContinuousClock.now < deadline, shell.isRunning else { throw error }
          usleep(50_000)
        }
      }
      setenv(variable, url, 1)
      return url
    }
  }

  extension ContextUnderTest {
    /// Stores in PostgreSQL, each in a schema of its own.
    package static let postgres = ContextUnderTest(
      "postgres", effort: Environment.isSoak ? .thorough : .quick,
      worker: .besideThisProgram("ContextWorker", arguments: ["postgres"])
    ) { path, options, monitoring in
      let server = ContextUnderTest(engine: .postgres, at: try PostgresCluster.url(), storeOption: "schema")
      return try server.open(path, options, monitoring)
    }
  }
#endif
