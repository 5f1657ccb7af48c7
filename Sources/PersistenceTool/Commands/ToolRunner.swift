import ArgumentParser
import PersistenceDriver
import PersistenceMigration

/// Runs the tool from its arguments to its exit code.
package enum ToolRunner {
  /// Runs a command.
  ///
  /// - Parameters:
  ///   - arguments: The arguments, without the program's name.
  ///   - session: What the command works with.
  /// - Returns: The code to exit with.
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
        // The root without a subcommand, and help: the parser knows what to print.
        try command.run()
        return .success
      }
      return try tool.run(in: session)
    } catch let failure as ToolFailure {
      throw failure
    } catch let error as PersistenceError {
      throw error
    } catch  where PersistenceCommand.exitCode(for: error) == .success {
      try session.output.line(PersistenceCommand.fullMessage(for: error))
      return .success
    } catch  where isParsing(error) {
      throw ToolFailure.usage(PersistenceCommand.fullMessage(for: error))
    }
  }

  /// Whether an error comes from reading the command line.
  private static func isParsing(_ error: any Error) -> Bool {
    PersistenceCommand.exitCode(for: error) == .validationFailure
  }

  /// What an error is to the user, and the code to exit with.
  static func failure(_ error: any Error) -> ToolFailure {
    switch error {
    case let failure as ToolFailure: return failure
    case let error as PersistenceError:
      return ToolFailure(exit: exit(error.code), message: error.description)
    default: return .inputOutput("\(error)")
    }
  }

  private static func exit(_ code: PersistenceError.Code) -> ToolFailure.Exit {
    switch code {
    // A lossy migration is refused before anything is written, for want of an option.
    case .invalidURL, .unknownField, .invalidRequest, .invalidSchema, .lossyMigration: .usage
    case .verificationFailed: .differences
    case .tooManyRejects: .rejects
    default: .inputOutput
    }
  }

  private static func report(_ failure: ToolFailure, of arguments: [String], _ session: ToolSession) -> Int32
  {
    // Where even this cannot be written, the exit code still says it.
    try? session.output.flush()
    let isMarked = failure.message.hasPrefix("Error: ") || failure.exit == .interrupted
    try? session.say((isMarked ? "" : "Error: ") + withoutSecrets(failure.message, of: arguments))
    return failure.exit.rawValue
  }

  /// The message without the secrets of arguments that it repeats: who puts a URL where none is expected is told so
  /// in words that name it, the parser's or ours.
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
