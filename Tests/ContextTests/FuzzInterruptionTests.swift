import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing

@Suite("Fuzzing of interrupted reads")
struct FuzzInterruptionTests {
  @Test("R5 W4 a transaction goes on after a read in it that was interrupted at any check")
  func transaction() throws {
    let schema = try ModelSchema(name: "B", fields: [FieldSchema("a", .string)], key: ["a"])
    let rows = (0..<300).map { [PersistentValue.text("\($0)")] }
    var steps: [FuzzStep] = [.define(0), .saveMany(0, rows), .holdSnapshot(0), .holdResult(1, FuzzQuery(0))]
    for check in 1...8 {
      let read = FuzzStep.interrupted(.fetch(FuzzQuery(0)), atCheck: check)
      steps += [
        .transaction(
          [read, .aggregate(FuzzQuery(0), []), .delete(0, rows[check]), read, .fetch(FuzzQuery(0))], .commit),
        .interrupted(.fetchHeld(0, FuzzQuery(0)), atCheck: check), .readHeld(0),
        .interrupted(.readHeld(1), atCheck: check), .readHeld(1),
      ]
    }
    let program = FuzzProgram(schemas: [schema], steps: steps)
    for context in ContextUnderTest.ours { try program.run(on: context) }
  }
}
