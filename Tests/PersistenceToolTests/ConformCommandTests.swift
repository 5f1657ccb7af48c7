import Foundation
import PersistenceConformance
import PersistenceDriver
import PersistenceTool
import Testing
import PersistenceDriverSupport

@Suite("persistence conform")
struct ConformCommandTests {
  @Test("A conforming context prints a table by rule and exits with 0")
  func held() async {
    let run = await ToolHarness().aside("conform", "memory:", "--rule", "O4", "--rule", "c2")
    #expect(run.code == 0, "\(run.messages)")
    #expect(run.output.contains("O4    limit, offset and pages"))
    #expect(run.output.contains("isMultiProcess: false"))
    #expect(run.output.contains(" 0 broken"))
    #expect(!run.output.contains("V1 "))
  }

  @Test("A broken rule prints an example, also as JSON, and exits with 1")
  func broken() async throws {
    // All checks share one store, so that each finds the records of others.
    let harness = ToolHarness.holding(MemoryContext())
    let run = await harness.aside("conform", "held:", "--rule", "W1")
    #expect(run.code == 1)
    #expect(run.output.contains("broken: W1"))
    #expect(run.output.contains("expected:") && run.output.contains("found:"))
    let json = await harness.aside("conform", "held:", "--rule", "W1", "--format", "json")
    #expect(json.code == 1)
    let report = try JSONDecoder().decode(ConformanceReport.self, from: Data(json.output.utf8))
    #expect(!report.isConforming && report.count(where: \.isBroken) > 0)
    #expect(report.entries.allSatisfy { $0.rules.contains(.w1) })
  }

  @Test("--quick leaves out slow checks, and --only those of other rules")
  func quick() async throws {
    let run = await ToolHarness().aside("conform", "memory:", "--quick", "--only", "W4", "--format", "json")
    #expect(run.code == 0, "\(run.messages)")
    let report = try JSONDecoder().decode(ConformanceReport.self, from: Data(run.output.utf8))
    #expect(report.entries.map(\.title) == ConformanceSuite(only: [.w4], isQuick: true).checks.map(\.title))
    #expect(ConformanceSuite(only: [.w4]).checks.count > report.entries.count)
    let both = await ToolHarness().aside("conform", "memory:", "--quick", "--thorough")
    #expect(both.code == 3 && both.messages.contains("exclude each other"))
  }

  @Test("A run without checks fails")
  func nothing() async {
    let run = await ToolHarness().aside("conform", "memory:", "--rule", "E7")
    #expect(run.code == 1)
    #expect(run.messages.contains("no check was run"))
  }

  @Test("Accepts only a new or an empty folder")
  func path() async throws {
    let folder = try TemporaryFolder()
    let file = folder.path + "/mine.sqlite"
    try Data("mine".utf8).write(to: URL(fileURLWithPath: file))
    for path in [file, folder.path] {
      let run = await ToolHarness().aside("conform", "json:\(path)", "--rule", "O4")
      #expect(run.code == 3 && run.messages.contains("\(path) is not an empty folder"))
    }
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
    let run = await ToolHarness().aside("conform", "json:\(folder.path)/new", "--rule", "O4")
    #expect(run.code == 0, "\(run.output)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/new").isEmpty)
  }

  @Test("The tool starts itself as the second process")
  func worker() async {
    var harness = ToolHarness()
    harness.executable = WorkerProgram.besideThisProgram("persistence")?.executable
    let run = await harness.aside("conform", "json:", "--rule", "C2")
    #expect(run.code == 0, "\(run.output)")
    let alone = await ToolHarness().aside("conform", "json:", "--rule", "C2")
    #expect(alone.code == 1 && alone.output.contains("a worker program"))
  }

  @Test("Lists rules and checks; refuses unknown rules, schemes and options")
  func usage() async {
    let list = await ToolHarness().aside("conform", "--list")
    #expect(list.code == 0 && list.output.contains("**W5** committed transactions are durable"))
    #expect(await ToolHarness().aside("conform").code == 3)
    #expect(
      await ToolHarness().aside("conform", "memory:", "--rule", "Z9").messages.contains(
        "the rules are V1, V2"))
    #expect(await ToolHarness().aside("conform", "nothing:").code == 3)
    #expect(await ToolHarness().aside("conform", "sqlite:?color=red").code == 3)
  }
}
