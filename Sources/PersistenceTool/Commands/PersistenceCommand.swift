import ArgumentParser

/// The tool's root command.
struct PersistenceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "persistence",
    abstract: "Looks into stores, fills them, copies and compares them, whichever engine keeps them.",
    discussion: """
      A store is named by a URL: sqlite:movies.sqlite, lmdb:movies.lmdb, json:Movies, memory: — with options \
      after a question mark, as in sqlite:movies.sqlite?synchronous=full.

      Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 differences \
      found, 2 records rejected, 3 the command line is wrong, 4 reading or writing failed, 130 interrupted.
      """,
    subcommands: [
      InspectCommand.self, QueryCommand.self, ExplainCommand.self, ImportCommand.self, ExportCommand.self,
      MigrateCommand.self, VerifyCommand.self, ConformCommand.self, FuzzCommand.self,
    ] + serving)

  private static var serving: [any ParsableCommand.Type] {
    #if HTTP
      [ServeCommand.self]
    #else
      []
    #endif
  }
}

/// A command that works in a session.
protocol ToolCommand: ParsableCommand {
  /// Does the work.
  ///
  /// - Returns: How it ended, where it did not fail.
  func run(in session: ToolSession) throws -> ToolFailure.Exit
}

extension ToolCommand {
  /// A command does nothing without a session.
  func run() throws {
    throw ToolFailure.usage("the command was started without a session; start it with ToolRunner")
  }
}

/// Options of every command.
struct CommonOptions: ParsableArguments {
  @Flag(help: "Say what the engines report: opening, recovery, slow requests.")
  var verbose = false
}

/// How results are printed.
enum ResultFormat: String, ExpressibleByArgument, CaseIterable {
  case table, json
}

/// How rows are printed.
enum RowFormat: String, ExpressibleByArgument, CaseIterable {
  case table, json, csv
}

extension ProgressDisplay.Style: ExpressibleByArgument {}
