/// A failure of the tool: the exit code and the message.
struct ToolFailure: Error, Equatable {
  /// An exit code.
  enum Exit: Int32 {
    /// Success.
    case success = 0
    /// The stores differ, a plan shows obstacles, or a check failed.
    case differences = 1
    /// Some records were rejected.
    case rejects = 2
    /// The command line, or a URL, name or condition in it, is invalid; nothing was opened for writing.
    case usage = 3
    /// A store or file could not be read or written.
    case inputOutput = 4
    /// The user interrupted the tool.
    case interrupted = 130
  }

  /// The exit code.
  let exit: Exit
  /// The message for the user.
  let message: String

  /// An invalid command line.
  static func usage(_ message: String) -> ToolFailure { ToolFailure(exit: .usage, message: message) }

  /// A file that could not be read or written.
  static func inputOutput(_ message: String) -> ToolFailure {
    ToolFailure(exit: .inputOutput, message: message)
  }

  /// An interruption by the user.
  static let interrupted = ToolFailure(exit: .interrupted, message: "interrupted")
}
