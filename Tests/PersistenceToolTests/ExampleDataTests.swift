import Foundation
import PersistenceDriver
import PersistenceTool
import Testing

@Suite("The example movies", .enabled(if: ToolEngines.ofFiles.contains { $0.scheme == "json" }))
struct ExampleDataTests {
  private static let movies = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Examples/Movies").path

  @Test(
    "At least a hundred movies match the example app's model, in the engine's own format"
  )
  func shipped() throws {
    let folder = try TemporaryFolder()
    let tool = ToolHarness()
    let url = "json:\(Self.movies)?readonly=true"
    let inspected = tool("inspect", url, "--format", "json")
    #expect(inspected.code == 0, "\(inspected)")
    #expect(inspected.output.contains("\"count\" : 146"))
    // A copy by the tool is byte-identical, so the files have the engine's own format.
    let copied = tool("migrate", url, "json:\(folder("copy"))")
    #expect(copied.code == 0, "\(copied)")
    let files = FileManager.default
    let names = try files.contentsOfDirectory(atPath: Self.movies + "/Movie").filter { $0.hasSuffix(".json") }
    #expect(names.count == 146)
    for name in names {
      #expect(
        files.contentsEqual(
          atPath: "\(Self.movies)/Movie/\(name)", andPath: folder("copy") + "/Movie/\(name)"), "\(name)")
    }
  }

  @Test("The demo's conditions find records")
  func conditions() throws {
    let run = ToolHarness()(
      "query", "json:\(Self.movies)?readonly=true", "Movie", "--where",
      "rating = 'PG-13' and budget >= 1.5e8", "--sort", "title",
      "--fields", "title", "--format", "csv")
    #expect(
      run.output.split(separator: "\r\n").map(String.init) == [
        "title", "Avatar", "\"Batman Begins\"", "Inception", "Interstellar", "\"King Kong\"",
        "\"The Dark Knight\"", "Titanic",
      ])
  }
}
