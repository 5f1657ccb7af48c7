import PersistenceConformance
import PersistenceCore

extension PlantedDefect {
  /// W5, E5: a log of commits that is read, repaired or compacted wrongly.
  static let logs: [PlantedDefect] = [
    log("a torn tail stays in the log, and commits are appended to it", .w5) { flaw in
      flaw.keepsLength = false
      flaw.removesTornTail = false
    }.caught(
      by: "if an opening accepts a store with a torn tail, every later commit survives the next opening"),
    log("a torn tail stays in a log that detects no damage", .w5) { flaw in
      flaw.keepsLength = false
      flaw.removesTornTail = false
      flaw.declaresDetection = false
    }.caught(
      by: "the partial write of a killed commit is dropped, and later commits survive the next opening"),
    log("a log's checksums are not verified", .e5) { $0.verifiesChecksums = false }.caught(by: detecting),
    log("a log verifies the checksum of its first record only", .e5) { $0.verifiesFirstOnly = true }
      .caught(by: detecting),
    log("damage in the middle of a log is taken for its torn tail", .e5) { $0.takesDamageForTheEnd = true }
      .caught(by: detecting),
    log("a length beyond the end of a log ends the process", .e5) { flaw in
      flaw.keepsLength = false
      flaw.checksLengths = false
    }.caught(by: "a damaged block causes no crash, no hang and no untyped error"),
    log("the compaction of a log loses models without records", .w5) { $0.keepsEmptyModels = false }
      .caught(by: "models without records survive many updates of other models, and reopening"),
    log("deletions are missing in a log", .w5) { $0.logsDeletions = false }
      .caught(by: "a store reopened after each of many transactions keeps their records and index entries"),
  ]

  private static let detecting = "a damaged block is detected, or the records are read as they were written"

  private static func log(
    _ name: String, _ rule: ContractRule, _ change: @escaping @Sendable (inout LogFile.Flaw) -> Void
  ) -> PlantedDefect {
    PlantedDefect(
      name, rule,
      opening: { path, options, monitoring in try LogContext(path, options, monitoring, change) })
  }
}
