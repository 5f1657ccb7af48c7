import PersistenceDriver
import PersistenceDriverSupport
import PersistenceTool
import Testing

@Suite("Schema commands for versions that lack stored fields")
struct LeftBehindSchemaTests {
  @Test(
    "L1 L2 check shows no former rule and no ended reference, as the opening changes none",
    arguments: ToolEngines.ofFiles.map(\.scheme), [false, true])
  func references(scheme: String, isEnded: Bool) throws {
    let commands = try SchemaCommandTests()
    defer { withExtendedLifetime(commands) {} }
    let (tool, url) = (commands.tool, try commands.makeStore(scheme))
    var full = SchemaCommandTests.first
    full.models[1].fields.append(.init(schema: FieldSchema("other", .int64, isOptional: true)))
    full.models[1].fields[3].reference = .init(target: "Draft", rule: .cascade)
    #expect(tool("schema", "apply", try commands.file("full.json", full), url).code == 0)
    var lacking = full
    lacking.models[1].fields.remove(at: 2)
    if isEnded {
      full.models[1].fields[3].reference = nil
      full.models[1].fields[3].endsReference = true
    } else {
      full.models[1].fields[3].reference?.rule = .setNil
    }
    #expect(tool("schema", "apply", try commands.file("changed.json", full), url).code == 0)
    let file = try commands.file("lacking.json", lacking)
    let before = tool("schema", "show", url).output
    #expect(before.contains("refers to Draft (setNil)") == !isEnded, "\(before)")
    for command in ["check", "apply"] {
      let run = tool("schema", command, file, url)
      #expect(run.output == "= Draft: same\n= Movie: used as it is\n", "\(command): \(run)")
    }
    #expect(tool("schema", "show", url).output == before)
  }
}
