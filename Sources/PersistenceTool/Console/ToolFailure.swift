/// A failure of the tool: the exit code and the message.
struct ToolFailure: Error, Equatable {
  enum Exit: Int32 {
    case success = 0
    /// The stores differ, a plan shows obstacles, or a check failed.
    case differences = 1
    /// Some records were rejected.
    case rejects = 2
    /// The command line, or a URL, name or condition in it, is invalid; nothing was opened for writing.
    case usage = 3
    /// A store or file could not be read or written.
    case inputOutput = 4
    case interrupted = 130
  }

  let exit: Exit
  let message: String

  static func usage(_ message: String) -> ToolFailure { ToolFailure(exit: .usage, message: message) }

  static func inputOutput(_ message: String) -> ToolFailure {
    ToolFailure(exit: .inputOutput, message: message)
  }

  static let interrupted = ToolFailure(exit: .interrupted, message: "interrupted")
}
