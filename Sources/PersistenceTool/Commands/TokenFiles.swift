#if CommandLineTool && HTTP
  import Foundation
  import PersistenceServer

  /// The files and variables that contain the tokens of a server.
  struct TokenFiles: Sendable {
    let read: String?
    let write: String?

    /// Reads the tokens, and warns of a file that other users of the machine can read.
    func tokens(warning warn: (String) throws -> Void) throws -> AccessTokens {
      let read = try list(read, "PERSISTENCE_READ_TOKENS", warn)
      let write = try list(write, "PERSISTENCE_WRITE_TOKENS", warn)
      guard !(read.isEmpty && write.isEmpty) else {
        throw ToolFailure.usage(
          "there is no token; pass a file to --read-tokens or --write-tokens, set "
            + "PERSISTENCE_READ_TOKENS or PERSISTENCE_WRITE_TOKENS, or use --without-tokens")
      }
      return try AccessTokens(read: read, write: write)
    }

    private func list(
      _ file: String?, _ variable: String, _ warn: (String) throws -> Void
    ) throws -> [String] {
      var text = ProcessInfo.processInfo.environment[variable]?.replacing(",", with: "\n") ?? ""
      if let file {
        guard let data = FileManager.default.contents(atPath: file),
          let content = String(validating: data, as: UTF8.self)
        else { throw ToolFailure.inputOutput("\(file) cannot be read as text") }
        text += "\n" + content
        try SecretFile.check(file, of: "the tokens", warn)
      }
      return text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        .filter { !$0.isEmpty }
    }
  }
#endif
