import Foundation
import PersistenceDriver
import PersistenceTool
import Synchronization
import Testing
import PersistenceDriverSupport

@Suite("persistence migrate: final messages")
struct MigrationEndTests {
  private let folder: TemporaryFolder
  private let destination = MemoryContext()
  private var tool: ToolHarness

  init() throws {
    folder = try TemporaryFolder()
    tool = ToolHarness.holding(
      try Rows.store((1...300).map { try Rows.row($0, ["title": .text("T\($0)")]) }))
    tool.engines.append(ToolHarness.held("other", destination))
  }

  @Test("A failed report write does not make a finished copy incomplete")
  func report() throws {
    let path = folder("gone/r.json")
    try FileManager.default.createDirectory(atPath: folder("gone"), withIntermediateDirectories: true)
    let (gone, destination) = (folder("gone"), destination)
    var tool = tool
    tool.isInterrupted = {
      // The folder existed when the command line was checked.
      if !((try? destination.catalog()) ?? []).isEmpty { try? FileManager.default.removeItem(atPath: gone) }
      return false
    }
    let run = tool("migrate", "held:", "other:", "--report", path)
    #expect(run.code == 4, "\(run)")
    #expect(run.messages.contains("everything is copied and verified"))
    #expect(run.messages.contains("\(path) could not be written"))
    #expect(!run.messages.contains("--resume"), "\(run)")
    #expect(run.output.contains("300 records of 1 model copied"), "\(run)")
    #expect(self.tool("verify", "held:", "other:").code == 0)
  }

  @Test("Failed output does not make a finished copy incomplete", arguments: ["table", "json"])
  func output(format: String) throws {
    let messages = Mutex("")
    let session = ToolSession(
      output: ByteOutput { _ in throw NoSpace() },
      messages: ByteOutput { bytes in messages.withLock { $0 += String(decoding: bytes, as: UTF8.self) } },
      engines: tool.engines)
    let code = ToolRunner.run(
      ["migrate", "held:", "other:", "--verify", "none", "--format", format, "--report", folder("r.json")],
      in: session)
    #expect(code == 4)
    let said = messages.withLock { $0 }
    #expect(said.contains("everything is copied, and there is nothing to resume"), "\(said)")
    #expect(said.contains("no space") && !said.contains("--resume"), "\(said)")
    #expect(try String(contentsOfFile: folder("r.json"), encoding: .utf8).contains("\"done\""))
    #expect(tool("verify", "held:", "other:").code == 0)
  }

  @Test("A failed close does not make a finished copy incomplete")
  func closing() throws {
    var tool = tool
    let destination = destination
    tool.engines.append(
      StorageEngine(scheme: "stuck", options: []) { _, _, _ in StuckContext(wrapped: destination) })
    let run = tool("migrate", "held:", "stuck:")
    #expect(run.code == 4, "\(run)")
    #expect(run.messages.contains("everything is copied and verified"), "\(run)")
    #expect(run.messages.contains("cannot be closed") && !run.messages.contains("--resume"), "\(run)")
  }

  @Test("An interrupted --resume prints the resume command again, however early")
  func resuming() throws {
    var tool = tool
    let destination = destination
    tool.isInterrupted = {
      let schema = try? destination.catalog().first { $0.name == "Movie" }
      return schema.flatMap { try? destination.count(FetchRequest($0)) } ?? 0 >= 100
    }
    let report = folder("r.json")
    let begin = ["migrate", "held:", "other:", "--batch", "50", "--report", report]
    let command = "persistence migrate held: other: --batch 50 --resume --report \(report)"
    #expect(tool.run(begin).messages.contains(command))
    tool.isInterrupted = { true }
    let again = tool.run(begin + ["--resume"])
    #expect(again.code == 130, "\(again)")
    #expect(again.messages.contains(command), "\(again)")
    #expect(try String(contentsOfFile: report, encoding: .utf8).contains("\"resume\""))
    #expect(self.tool.run(begin + ["--resume"]).code == 0)
    // After completion, nothing is left to resume.
    let none = self.tool.run(begin + ["--resume"])
    #expect(none.code == 4 && !none.messages.contains("to continue, run"), "\(none)")
  }

  private struct NoSpace: Error, CustomStringConvertible {
    var description: String { "there is no space" }
  }

  private final class StuckContext: StorageContextWrapper {
    let wrapped: any StorageContext
    init(wrapped: any StorageContext) { self.wrapped = wrapped }
    var location: String { "stuck:" }
    func close() throws { throw PersistenceError(.inputOutput, "it cannot be closed", location: location) }
  }
}
