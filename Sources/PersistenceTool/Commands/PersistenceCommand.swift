#if CommandLineTool
  import ArgumentParser

  /// The tool's root command.
  struct PersistenceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "persistence",
      abstract: "Inspect, query, import, export, copy and compare stores of any engine.",
      discussion: """
        A URL names a store: sqlite:movies.sqlite, lmdb:movies.lmdb, json:Movies or memory:. Options follow a question \
        mark, for example sqlite:movies.sqlite?synchronous=full.

        Results go to standard output, everything else to standard error. Exit codes: 0 success, 1 differences found, \
        2 records rejected, 3 invalid command line, 4 reading or writing failed, 130 interrupted.
        """,
      subcommands: [
        InspectCommand.self, QueryCommand.self, ExplainCommand.self, ImportCommand.self, ExportCommand.self,
        MigrateCommand.self, BackupCommand.self, RestoreCommand.self, VerifyCommand.self, SchemaCommand.self,
        ConformCommand.self, FuzzCommand.self,
      ] + serving)

    private static var serving: [any ParsableCommand.Type] {
      #if HTTP
        [ServeCommand.self]
      #else
        []
      #endif
    }
  }

  /// A command that runs in a session.
  protocol ToolCommand: ParsableCommand {
    /// Runs the command, and returns the exit code of a command that did not fail.
    func run(in session: ToolSession) throws -> ToolFailure.Exit
  }

  extension ToolCommand {
    /// Fails, because a command needs a session.
    func run() throws {
      throw ToolFailure.usage("the command has no session; run it with ToolRunner")
    }
  }

  /// The options of every command.
  struct CommonOptions: ParsableArguments {
    @Flag(help: "Print messages of the engines: opening, recovery, slow requests.")
    var verbose = false
  }

  extension ResultFormat: ExpressibleByArgument {}
  extension RowFormat: ExpressibleByArgument {}
  extension ImportFormat: ExpressibleByArgument {}
  extension ProgressDisplay.Style: ExpressibleByArgument {}
#endif
