#if CommandLineTool
  import ArgumentParser
  import PersistenceDriver
  import PersistenceMigration

  /// Runs the tool from its arguments to its exit code.
  package enum ToolRunner {
    /// Runs a command by the arguments without the program's name, and returns the exit code.
    package static func run(_ arguments: [String], in session: ToolSession) -> Int32 {
      let exit: ToolFailure.Exit
      do {
        if arguments.first == ConformWorker.name {
          return try ConformWorker.run(Array(arguments.dropFirst()), in: session)
        }
        exit = try parse(arguments, session)
        try session.output.flush()
      } catch {
        return report(failure(error), of: arguments, session)
      }
      return exit.rawValue
    }

    private static func parse(_ arguments: [String], _ session: ToolSession) throws -> ToolFailure.Exit {
      do {
        var command = try PersistenceCommand.parseAsRoot(arguments)
        guard let tool = command as? any ToolCommand else {
          // The root without a subcommand, and help: the parser prints the help text.
          try command.run()
          return .success
        }
        return try tool.run(in: session)
      } catch  where error is ToolFailure || error is PersistenceError {
        throw error
      } catch  where PersistenceCommand.exitCode(for: error) == .success {
        try session.output.line(PersistenceCommand.fullMessage(for: error))
        return .success
      } catch  where PersistenceCommand.exitCode(for: error) == .validationFailure {
        throw ToolFailure.usage(PersistenceCommand.fullMessage(for: error))
      }
    }

    /// The message and the exit code for an error.
    static func failure(_ error: any Error) -> ToolFailure {
      switch error {
      case let failure as ToolFailure: return failure
      case let error as PersistenceError:
        return ToolFailure(exit: exit(error.code), message: error.description + advice(error.code))
      default: return .inputOutput("\(error)")
      }
    }

    /// The options that resolve an error: libraries do not know them.
    private static func advice(_ code: PersistenceError.Code) -> String {
      switch code {
      case .incompleteStore:
        "; to resume the migration, run it again with --resume; to start over, use --restart"
      case .otherMigration, .sourceChanged, .destinationChanged: "; to start over, use --restart"
      case .lossyMigration: "; --allow-lossy allows the changes"
      case .tooManyRejects: "; --max-rejects sets the limit"
      default: ""
      }
    }

    private static func exit(_ code: PersistenceError.Code) -> ToolFailure.Exit {
      switch code {
      // A lossy migration stops before it writes anything, and needs another option.
      case .invalidURL, .unknownField, .invalidRequest, .invalidSchema, .lossyMigration: .usage
      case .verificationFailed: .differences
      case .tooManyRejects: .rejects
      default: .inputOutput
      }
    }

    private static func report(
      _ failure: ToolFailure, of arguments: [String], _ session: ToolSession
    ) -> Int32 {
      // The exit code reports the failure even if nothing can be written.
      try? session.output.flush()
      let isMarked = failure.message.hasPrefix("Error: ") || failure.exit == .interrupted
      try? session.say((isMarked ? "" : "Error: ") + withoutSecrets(failure.message, of: arguments))
      return failure.exit.rawValue
    }

    /// Redacts the URLs among the arguments that a message repeats, even if the parser expected no URL there.
    private static func withoutSecrets(_ message: String, of arguments: [String]) -> String {
      let values = arguments.compactMap { argument in
        argument.firstIndex(of: "=").map { String(argument[$0...].dropFirst()) }
      }
      let words = (arguments + values).sorted { $0.utf8.count > $1.utf8.count }
      return words.reduce(message) { message, word in
        let shown = StoreURL.redacted(word)
        return shown == word ? message : message.replacing(word, with: shown)
      }
    }
  }
#else
  /// Stands in for the tool in a build without the trait `CommandLineTool`.
  package enum ToolRunner {
    /// Prints how to enable the tool, and returns the exit code 3.
    package static func run(_ arguments: [String], in session: ToolSession) -> Int32 {
      try? session.say(
        "Error: this build has no commands; build the package with the trait CommandLineTool, for example "
          + "swift run --traits CommandLineTool persistence")
      return ToolFailure.Exit.usage.rawValue
    }
  }
#endif
