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
        rules: [.w1, .w3, .w5, .r2, .r3, .e5, .e8, .c2],
        named: "mirrored"
      ) { path, options, monitoring in
        try MirroredContext(
          sqlite(path, options, monitoring), before: memory(options, monitoring)
        ) { back, isClosing, commits in
          if !isClosing { try back.apply(commits.last) }
        }
      },
      Control(rules: [.c3, .e5, .e8, .w5, .w7], named: "logged") { try LogContext($0, $1, $2) },
      Control(rules: [.w5], named: "logged to the last whole record") { path, options, monitoring in
        try LogContext(path, options, monitoring) { flaw in
          flaw.keepsLength = false
          flaw.declaresDetection = false
        }
      },
      Control(
        rules: [.c2, .w4], named: "unique values",
        opening: PlantedDefect.uniqueValues(knowsStored: true, knowsOthers: true)),
      Control(rules: [.c2], named: "writes under a lock") { path, options, monitoring in
        try PlantedDefect.lockedWrites(path, options, monitoring) { lock, _ in lock.release() }
      },
      Control(rules: [.c3], named: "openings under a lock") { path, options, monitoring in
        try PlantedDefect.lockedOpening(path, options, monitoring) { lock, _ in lock.release() }
      },
      Control(
        rules: [.u1, .s11, .w1, .w3],
        context: ContextUnderTest("reporting without a defect") { _, options, monitoring in
          TellingContext(memory(options, monitoring), monitoring)
        }),
    ]

    init(rules: Set<ContractRule>, context: ContextUnderTest) {
      self.rules = rules
      self.context = context
    }

    /// Machinery that the worker opens too.
    private init(
      rules: Set<ContractRule>, named name: String, opening: @escaping ContextUnderTest.Opening
    ) {
      let name = name + " without a defect"
      self.init(
        rules: rules,
        context: ContextUnderTest(
          name, worker: .besideThisProgram("DefectWorker", arguments: [name]), opening: opening))
    }
  }
}
