import PersistenceConformance
import PersistenceCore

extension PlantedDefect {
  /// W5: a journal that is not durable, or that believes a medium that failed.
  static let powerLosses: [PlantedDefect] = [
    journal("a commit is not synchronized", caughtBy: powerLoss) { $0.syncsCommits = false },
    journal("the folder of a new store is not synchronized", caughtBy: powerLoss) {
      $0.syncsFolderAfterCreation = false
    },
    journal("the folder is not synchronized after a rename", caughtBy: powerLoss) {
      $0.syncsFolderAfterReplacement = false
    },
    journal("a compacted file is not synchronized", caughtBy: powerLoss) { $0.syncsDrafts = false },
    journal("a compacted file is renamed before it is synchronized", caughtBy: readers) {
      $0.syncsDraftsLate = true
    },
    journal("a torn record is read, because its length is whole", caughtBy: powerLoss) {
      $0.checksRecords = false
    },
    journal("commits are written by calls that cannot be recorded", caughtBy: powerLoss) {
      $0.writesThroughStreams = true
    },
    journal("a commit is visible before it is durable", caughtBy: readers) { $0.publishesEarly = true },
    journal("a failed synchronization is repeated and believed", caughtBy: synchronizations) {
      $0.repeatsFailedSync = true
    },
    journal("a failed synchronization is ignored", caughtBy: synchronizations) {
      $0.ignoresFailedSync = true
    },
    journal("a commit whose synchronization failed is reported as rolled back", caughtBy: synchronizations) {
      $0.deniesFailedSync = true
    },
    journal("a failed write ends the process", caughtBy: faults) { $0.trapsAtFailedWrite = true },
    journal("a commit follows a partial record of a failed one", caughtBy: faults) {
      $0.appendsToPartialRecords = true
    },
  ]

  private static let powerLoss =
    "after a loss of power at any moment, the store opens and has exactly the acknowledged transactions"
  private static let readers = "no reader sees a transaction that a loss of power can undo"
  private static let faults =
    "when any write, opening, rename, map or allocation fails, calls throw typed errors, and the store stays whole"
  private static let synchronizations =
    "a failed synchronization is not believed: what is acknowledged afterwards survives a loss of power"

  private static func journal(
    _ name: String, caughtBy check: String, _ change: @escaping @Sendable (inout JournalFile.Flaw) -> Void
  ) -> PlantedDefect {
    PlantedDefect(
      name, .w5,
      opening: { path, options, monitoring in
        var flaw = JournalFile.Flaw()
        change(&flaw)
        return try JournalContext(path, options, monitoring, flaw)
      }
    ).caught(by: check)
  }
}

extension PlantedDefect.Control {
  /// The journal without a defect.
  static let journal = PlantedDefect.Control(
    rules: [.w5],
    context: ContextUnderTest(
      journalName, worker: .besideThisProgram("DefectWorker", arguments: [journalName])
    ) { path, options, monitoring in
      try JournalContext(path, options, monitoring, JournalFile.Flaw())
    })

  private static let journalName = "journaled without a defect"
}
