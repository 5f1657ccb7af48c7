/// Why the tool ends other than well: what to say, and the code to exit with.
struct ToolFailure: Error, Equatable {
  /// How the tool ends.
  enum Exit: Int32 {
    /// Everything was done.
    case success = 0
    /// Two stores differ.
    case differences = 1
    /// Some records were rejected, the others were kept.
    case rejects = 2
    /// The command line, or a URL, name or condition in it, is wrong; nothing was opened for writing.
    case usage = 3
    /// A store or file could not be read or written as asked.
    case inputOutput = 4
    /// Stopped by the user.
    case interrupted = 130
  }

  /// The code to exit with.
  let exit: Exit
  /// What to say.
  let message: String

  /// The command line is wrong.
  static func usage(_ message: String) -> ToolFailure { ToolFailure(exit: .usage, message: message) }

  /// A file could not be read or written.
  static func inputOutput(_ message: String) -> ToolFailure {
    ToolFailure(exit: .inputOutput, message: message)
  }

  /// The user stopped the tool.
  static let interrupted = ToolFailure(exit: .interrupted, message: "interrupted")
}
