#if Postgres
  import Foundation
  import OurContexts
  import PersistenceConformance
  import PersistenceDriver
  import PersistenceDriverSupport

  @testable import PersistencePostgres

  /// A primary server and a streaming standby of a test's own, each with a socket in a folder of its own.
  ///
  /// Both stop when the object is released, or the process ends in whatever way.
  final class ReplicatedServer: Sendable {
    enum Role: String { case primary, standby }

    /// The words before a command that the servers' user runs: a server refuses to run as root.
    private static let user = geteuid() == 0 ? "runuser -u postgres --" : ""
    /// The words before a folder that make the servers' user its owner.
    private static let chown = geteuid() == 0 ? "chown postgres" : ":"

    private let folder: String
    private let programs: String
    /// The input of the shell that stops the servers.
    private let lifeline: Int32

    /// A pair for tests that neither end nor promote a server, each with a schema of its own.
    static let shared = Result { try ReplicatedServer() }

    init(settings: String = "") throws {
      guard let programs = PostgresServer.programs else {
        throw PersistenceError(.unsupported, PostgresCluster.obstacle ?? "initdb is missing")
      }
      self.programs = programs
      folder = PostgresServer.newFolder()
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
      let stop = """
        cd \(folder)
        read -r _ || true
        for role in standby primary; do
          kill -QUIT $(head -n 1 $role/postmaster.pid) 2>/dev/null || true
        done
        sleep 1
        rm -rf \(folder)
        """
      lifeline = try PostgresServer.startShell(["-c", stop]).input
      try shell(
        """
        \(Self.chown) \(folder)
        \(Self.user) \(programs)/initdb -D primary -U postgres -A trust -E UTF8 --locale=C --no-sync
        cat >>primary/postgresql.conf <<END
        listen_addresses = ''
        fsync = off
        wal_level = replica
        hot_standby = on
        shared_buffers = 16MB
        max_connections = 60
        wal_retrieve_retry_interval = 200ms
        \(settings)
        END
        """)
      try start(.primary)
      try shell(
        """
        \(Self.user) \(programs)/pg_basebackup -h \(socket(.primary)) -U postgres -D standby -R -X stream \
          -c fast --no-sync
        """)
      try start(.standby)
    }

    deinit { close(lifeline) }

    /// The folder of a server's socket.
    private func socket(_ role: Role) -> String { "\(folder)/\(role)-socket" }

    private func address(_ roles: Role...) -> String {
      "postgres:///postgres?host=\(roles.map(socket).joined(separator: ","))&user=postgres"
    }

    /// Opens a store by both servers, to read from the standby.
    func open(_ schema: String = "test", isReadOnly: Bool = false) throws -> PostgresContext {
      try open(schema, "&readers=replica&application_name=reader" + (isReadOnly ? "&readonly=true" : ""))
    }

    /// Opens a store by both servers, to read from the primary server.
    func openPrimary(_ schema: String) throws -> PostgresContext { try open(schema, "") }

    /// Opens a store read-only at the standby.
    func openStandby(_ schema: String) throws -> PostgresContext {
      try PostgresContext(url: address(.standby) + "&connect=3s&readonly=true&schema=\(schema)")
    }

    private func open(_ schema: String, _ options: String) throws -> PostgresContext {
      try PostgresContext(url: address(.primary, .standby) + "&connect=3s&schema=\(schema)" + options)
    }

    /// Starts a server, also after it was killed, and waits until it accepts connections.
    func start(_ role: Role, _ options: String = "") throws {
      // The server inherits the socket by which Foundation waits for the end of a process. A shell that ended before it would
      // stay unreaped, and Swift Testing, which waits for any child, would not notice the end of an exit test. So it waits.
      let (_, input) = try PostgresServer.startShell([
        "-c",
        """
        cd \(folder)
        exec >>shell.log 2>&1
        mkdir -p \(socket(role))
        \(Self.chown) \(socket(role))
        for attempt in 1 2 3 4 5 6 7 8 9 10; do
          \(control(role)) -l \(folder)/\(role).log -o "-k \(socket(role)) \(options)" start && break
          sleep 0.3
        done
        server=$(head -n 1 \(role)/postmaster.pid)
        while kill -0 "$server" 2>/dev/null; do sleep 0.5; done
        """,
      ])
      close(input)
      try eventually("the \(role) server starts", within: .seconds(60)) { (try? connect(role)) != nil }
    }

    /// Stops a server that may tell its clients.
    func stop(_ role: Role) throws { try shell("\(control(role)) -m fast stop") }

    /// Makes the standby a primary server.
    func promote() throws { try shell("\(control(.standby)) promote") }

    /// Sends a signal to a server's main process.
    func signal(_ signal: Int32, _ role: Role) throws {
      let file = try String(contentsOfFile: "\(folder)/\(role)/postmaster.pid", encoding: .utf8)
      guard let process = file.split(separator: "\n").first.flatMap({ pid_t($0) }) else {
        throw PersistenceError(.engineFailure, "the file of the server's process is malformed")
      }
      guard Foundation.kill(process, signal) == 0 else {
        throw PersistenceError.system(errno, while: "signal", at: "a server")
      }
    }

    /// Ends a server as a failure of its machine would.
    func kill(_ role: Role) throws {
      try signal(SIGKILL, role)
      try eventually("the server ends") { (try? connect(role)) == nil }
      // Its children notice the end of their parent. Where nobody reaps it, its number stays in use.
      try shell("sleep 0.3; rm -f \(role)/postmaster.pid \(socket(role))/.s.PGSQL*")
    }

    private func control(_ role: Role) -> String {
      "\(Self.user) \(programs)/pg_ctl -D \(folder)/\(role) -w -t 30"
    }

    private func shell(_ script: String) throws {
      let (shell, _) = try Process.started { shell in
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", "set -e\ncd \(folder)\nexec >>shell.log 2>&1\n" + script]
        shell.standardInput = FileHandle.nullDevice
      }
      shell.waitUntilExit()
      guard shell.terminationStatus == 0 else {
        let log = try? String(contentsOfFile: "\(folder)/shell.log", encoding: .utf8)
        throw PersistenceError(.engineFailure, "a command of the test's servers failed: \(log ?? "")")
      }
    }

    /// A connection to one of the servers, whatever its role is now.
    func connect(_ role: Role) throws -> PostgresConnection {
      let url = try StoreURL(address(role) + "&target_session_attrs=any&application_name=test")
      let store = PostgresStore(
        try PostgresAddress(url, isReadOnly: true), PostgresConfiguration(schema: "test"))
      return try PostgresConnection.open(store)
    }

    /// Runs statements on one of the servers.
    @discardableResult
    func run(_ role: Role, _ statements: String...) throws -> PostgresResult? {
      let connection = try connect(role)
      return try statements.map { try connection.run([PostgresCommand($0)], "run a test's statement") }
        .last?.first
    }

    /// Waits until the standby has replayed what the primary has written.
    func catchUp() throws {
      let written = try run(.primary, "SELECT pg_current_wal_flush_lsn()::text")?.text(0, 0) ?? ""
      try eventually("the standby catches up") {
        try run(.standby, "SELECT (pg_last_wal_replay_lsn() >= '\(written)')::int::int8")?.integer(0, 0) == 1
      }
    }

    /// Stops the replay at the standby, which shows no new commit until the replay goes on.
    func pauseReplay() throws { try run(.standby, "SELECT pg_wal_replay_pause()") }

    /// Lets the replay go on, at the end of a test.
    func resumeReplay() { _ = try? run(.standby, "SELECT pg_wal_replay_resume()") }

    /// Makes commits wait until the standby has them.
    func replicateSynchronously() throws {
      try run(
        .primary, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
      try eventually("the standby is synchronous") {
        try run(.primary, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")?.count == 1
      }
    }

    /// Whether a context reads from the standby: a server counts connections of its own.
    func isRead() throws -> Bool {
      let count = try run(.standby, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'reader'")
      return (count?.integer(0, 0) ?? 0) > 0
    }
  }

  /// Repeats a check until it holds; throws after a time.
  func eventually(_ what: String, within time: Duration = .seconds(30), _ check: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + time
    while try !check() {
      guard ContinuousClock.now < deadline else {
        throw PersistenceError(.timedOut, "it takes more than \(time) until \(what)")
      }
      Thread.sleep(forTimeInterval: 0.02)
    }
  }
#endif
