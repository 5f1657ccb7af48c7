#if HTTP
  import Foundation
  import PersistenceTool
  import Testing

  @Suite("serve")
  struct ServeCommandTests {
    private let tool = ToolHarness()

    @Test("Refuses to serve without tokens on other addresses, or with invalid tokens")
    func refusals() throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).token").path
      defer { try? FileManager.default.removeItem(atPath: file) }
      for (arguments, reason) in [
        (["memory:"], "there is no token"),
        (["memory:", "--without-tokens", "--listen", "0.0.0.0:0"], "localhost"),
        (["memory:", "--listen", "8080"], "host:port"), (["memory:", "--max-page", "0"], "--max-page"),
        (["memory:", "--without-tokens", "--max-depth", "501"], "from 1 to 500"),
        (["memory:", "--without-tokens", "--read-tokens", file], "exclude"),
        (["memory:", "--without-tokens", "--evolve", "everything"], "--evolve"),
        (["memory:", "--without-tokens", "--tls-certificate", file], "both"),
        (["memory:", "--without-tokens", "--tls-key", file], "both"),
      ] {
        let run = tool.run(["serve"] + arguments)
        #expect(run.code == 3, "\(arguments)")
        #expect(run.messages.contains(reason), "\(arguments): \(run.messages)")
      }
      #expect(tool("serve", "memory:", "--write-tokens", file).code == 4)
      let missing = tool("serve", "memory:", "--without-tokens", "--tls-certificate", file, "--tls-key", file)
      #expect(missing.code == 4 && missing.messages.contains(file), "\(missing)")
      try Data("short\n".utf8).write(to: URL(fileURLWithPath: file))
      #expect(tool("serve", "memory:", "--write-tokens", file).messages.contains("at least 16"))
    }
  }
#endif
