package import PersistenceConformance
import PersistenceCore

extension PlantedDefect {
  /// The machinery of the defects without any defect, in which the suite must find nothing.
  package struct Control: Sendable, CustomStringConvertible {
    /// The rules of the defects with this machinery.
    package let rules: Set<ContractRule>
    /// The correct context.
    package let context: ContextUnderTest

    /// The context's name.
    package var description: String { context.name }

    /// Every control.
    package static let all: [Control] = [
      journal,
      Control(
        rules: Set(ContractRule.allCases),
        context: ContextUnderTest("wrapped without a defect") { _, options, monitoring in
          FlawedContext(memory(options, monitoring), Flaw())
        }),
      Control(
        rules: [.v3, .v4, .v4a, .v6, .v7, .v8, .o2, .o3, .o4],
        context: ContextUnderTest("row by row without a defect") { _, options, monitoring in
          var flaw = Flaw()
          flaw.fetch = { try RowByRow().answer($0, $1) }
          return FlawedContext(memory(options, monitoring), flaw)
        }),
      Control(
        rules: [.w1, .w3, .w5, .r2, .r3, .e5, .c2],
        context: ContextUnderTest(
          mirror, worker: .besideThisProgram("DefectWorker", arguments: [mirror])
        ) { path, options, monitoring in
          try MirroredContext(
            sqlite(path, options, monitoring), before: memory(options, monitoring)
          ) { back, isClosing, commits in
            if !isClosing { try back.apply(commits.last) }
          }
        }),
      Control(
        rules: [.c3, .e8, .w7],
        context: ContextUnderTest(
          log, worker: .besideThisProgram("DefectWorker", arguments: [log])
        ) { path, options, monitoring in try LogContext(path, options, monitoring) }),
      Control(
        rules: [.u1, .s11, .w1, .w3],
        context: ContextUnderTest("reporting without a defect") { _, options, monitoring in
          TellingContext(memory(options, monitoring), monitoring)
        }),
    ]

    private static let mirror = "mirrored without a defect"
    private static let log = "logged without a defect"
  }
}
