import Foundation
import PersistenceDriver
import PersistenceRemote
import TestSupport
import Testing

@Suite("Tokens in URLs")
struct TokenSourceTests {
  private let files: TestFiles

  init() throws { files = try TestFiles() }

  private func open(_ option: String, _ sources: TokenSources) throws {
    _ = try DataSources(opening: "http://127.0.0.1:1?\(option)", engines: [], tokenSources: sources)
  }

  private func refusal(_ option: String, _ sources: TokenSources) throws -> PersistenceError {
    try #require(throws: PersistenceError.self) { try open(option, sources) }
  }

  @Test("a URL cannot name a variable that the app does not, and the error says what to write")
  func variables() throws {
    for option in ["tokenenv=HOME", "tokenenv=PATH", "tokenenv=persistence_token"] {
      let error = try refusal(option, TokenSources())
      #expect(error.code == .invalidURL)
      #expect(error.message.contains("TokenSources(environmentVariables: ["), "\(error)")
    }
    let path = try #require(ProcessInfo.processInfo.environment["PATH"])
    #expect(!"\(try refusal("tokenenv=PATH", TokenSources()))".contains(path))
    #expect(throws: Never.self) { try open("tokenenv=PATH", TokenSources(environmentVariables: ["PATH"])) }
  }

  @Test("a URL may name PERSISTENCE_TOKEN in every app")
  func standardVariable() throws {
    if ProcessInfo.processInfo.environment["PERSISTENCE_TOKEN"] == nil {
      #expect(try refusal("tokenenv=PERSISTENCE_TOKEN", TokenSources()).message.contains("has no variable"))
    } else {
      #expect(throws: Never.self) { try open("tokenenv=PERSISTENCE_TOKEN", TokenSources()) }
    }
  }

  @Test("a URL cannot name a file outside the app's folders, by any path")
  func otherFiles() throws {
    let inside = try TestFiles()
    let secret = try files.write("a-secret-of-the-app", to: "secret")
    let link = inside.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: secret)
    let name = URL(fileURLWithPath: files.path).lastPathComponent
    let sibling = inside.path + "-2"
    try FileManager.default.createDirectory(atPath: sibling, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: sibling) }
    try Data("a-secret-of-the-app".utf8).write(to: URL(fileURLWithPath: sibling + "/x"))
    let paths = [
      "/etc/passwd", secret, "\(inside.path)/../\(name)/secret", link, sibling + "/x",
    ]
    for path in paths {
      for sources in [TokenSources(), TokenSources(files: [inside.path])] {
        let error = try refusal("tokenfile=\(path)", sources)
        #expect(error.code == .invalidURL && error.message.contains("TokenSources(files: ["), "\(error)")
        #expect(!"\(error)".contains("a-secret-of-the-app"))
      }
    }
  }

  @Test("a URL names an allowed file, or one in an allowed folder, also by a link between them")
  func allowedFiles() throws {
    let file = try files.write("a-token\n", to: "token")
    let link = files.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
    for allowed in [file, files.path, files.path + "/"] {
      for path in [file, link, files.path + "/./token"] {
        #expect(throws: Never.self) { try open("tokenfile=\(path)", TokenSources(files: [allowed])) }
      }
    }
  }

  @Test("what is no short text file is refused without reading it", .timeLimit(.minutes(1)))
  func strangeFiles() throws {
    let pipe = files.path + "/pipe"
    #expect(mkfifo(pipe, 0o600) == 0)
    let long = try files.write(String(repeating: "x", count: 20_000), to: "long")
    for path in [pipe, long, files.path, files.path + "/missing"] {
      let error = try refusal("tokenfile=\(path)", TokenSources(files: [files.path]))
      #expect(error.code == .invalidURL && error.message.contains("cannot read"), "\(error)")
    }
    let both = try refusal("tokenfile=\(long)&tokenenv=PATH", TokenSources(environmentVariables: ["PATH"]))
    #expect(both.code == .invalidURL && both.message.contains("exclude"))
  }
}
