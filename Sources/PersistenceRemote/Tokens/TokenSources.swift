#if HTTP
  import Foundation
  import PersistenceDriver

  /// The places from which the URL of a server may take its token.
  ///
  /// A URL such as `https://movies.example?tokenenv=NAME` sends a secret of this process to the URL's host. Whoever
  /// writes the URL must not choose any secret, so the app names those that are tokens.
  ///
  /// ```swift
  /// let sources = try DataSources(
  ///   opening: url, engines: [.sqlite], tokenSources: TokenSources(files: ["/run/secrets/movies"]))
  /// ```
  public struct TokenSources: Sendable, Hashable {
    /// The names of environment variables.
    public var environmentVariables: Set<String>
    /// The paths of files, and of folders whose files are all allowed.
    ///
    /// A symbolic link counts as the file that it leads to.
    public var files: [String]

    /// Creates the set of places.
    ///
    /// - Parameters:
    ///   - environmentVariables: The names of environment variables; the default is `PERSISTENCE_TOKEN` alone.
    ///   - files: The paths of files, and of folders whose files are all allowed.
    public init(environmentVariables: Set<String> = ["PERSISTENCE_TOKEN"], files: [String] = []) {
      (self.environmentVariables, self.files) = (environmentVariables, files)
    }

    /// The longest file of a token, in bytes.
    private static let longestFile = 16 << 10

    /// The token that the options of a URL name; nil if they name none.
    func token(_ options: StoreOptions, of url: String) throws -> String? {
      func invalid(_ reason: String) -> PersistenceError {
        PersistenceError(.invalidURL, reason, location: StoreURL.redacted(url))
      }
      if let variable = options["tokenenv"] {
        guard options["tokenfile"] == nil else { throw invalid("tokenfile and tokenenv exclude each other") }
        guard environmentVariables.contains(variable) else {
          throw invalid(
            "the app does not allow the environment variable “\(variable)” as a token; name it in the app: "
              + "tokenSources: TokenSources(environmentVariables: [\"\(variable)\"])")
        }
        guard let token = ProcessInfo.processInfo.environment[variable] else {
          throw invalid("the environment has no variable “\(variable)”")
        }
        return token.trimmingCharacters(in: .whitespacesAndNewlines)
      }
      guard let file = options["tokenfile"] else { return nil }
      let path = Self.realPath(file)
      let isAllowed = files.map(Self.realPath).contains {
        path == $0 || path.hasPrefix($0.hasSuffix("/") ? $0 : $0 + "/")
      }
      guard isAllowed else {
        throw invalid(
          "the app does not allow the file “\(file)” as a token; name it or its folder in the app: "
            + "tokenSources: TokenSources(files: [\"\(file)\"])")
      }
      guard let text = Self.text(of: path) else {
        throw invalid("cannot read the token file, which must be text of at most \(Self.longestFile) bytes")
      }
      return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func realPath(_ path: String) -> String {
      URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path
    }

    /// The content of a short text file.
    private static func text(of path: String) -> String? {
      let type = (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
      // Opening a pipe could wait for ever.
      guard type == .typeRegular, let file = FileHandle(forReadingAtPath: path) else { return nil }
      defer { try? file.close() }
      guard let data = try? file.read(upToCount: longestFile + 1) ?? Data(), data.count <= longestFile else {
        return nil
      }
      return String(validating: data, as: UTF8.self)
    }
  }
#endif
