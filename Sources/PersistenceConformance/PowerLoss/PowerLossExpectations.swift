/// The contents that a store may have, by the script's transactions.
struct Expectations {
  let script: CommitScript
  private var digests: [[Int]: String] = [:]

  init(script: CommitScript) { self.script = script }

  mutating func digest(of numbers: [Int]) throws -> String {
    if let known = digests[numbers] { return known }
    let digest = try script.state(after: numbers).digest
    digests[numbers] = digest
    return digest
  }

  /// Whether a content is one that the history permits.
  mutating func permits(_ digest: String, after history: CommitHistory) throws -> Bool {
    for candidate in history.candidates where try self.digest(of: candidate) == digest { return true }
    return false
  }

  /// Returns the failure of a state that breaks a promise; nil if it keeps all.
  mutating func failure(
    _ finding: StateSurvey.Finding, _ moment: RecordedRun.Moment, _ choice: CrashPlan.Choice,
    _ circumstance: String
  ) throws -> ConformanceFailure? {
    let said: String
    switch finding {
    case .content(let digest, let last, let glimpse):
      if try !permits(digest, after: moment.history) {
        said = Self.verdict(last, moment.history)
      } else if let glimpse, try !permits(glimpse, after: moment.history) {
        said = "a read-only opening shows a state that was never committed, instead of throwing an error"
      } else {
        return nil
      }
    case .fault(let text): said = text
    }
    let lost = moment.disk.pending.filter { choice.fates[$0] ?? .kept != .kept }
    let names = lost.prefix(4).map { change in
      choice.fates[change] == .lost
        ? moment.disk.describe(change) : "parts of \(moment.disk.describe(change))"
    }
    let acknowledged = moment.history.outcomes.map { "\($0.last ?? 0)" }.joined(separator: " or ")
    return ConformanceFailure(
      "\(circumstance)The power failed \(moment.cause): \(said)\(Self.reason(lost, moment)).\n"
        + "  In this state \(choice.kind)"
        + (names.isEmpty ? "." : ": \(names.joined(separator: "; "))\(lost.count > 4 ? "; …" : "")."),
      expected:
        "what was acknowledged survives the loss of power (W5): the newest transaction is \(acknowledged)"
        + (moment.history.running.map { ", and \($0) is there as a whole or not at all" } ?? ""),
      found: said, file: #fileID, line: #line)
  }

  /// The likely reason, if a promise was broken as soon as it was given.
  private static func reason(_ lost: [PendingChange], _ moment: RecordedRun.Moment) -> String {
    guard moment.isPromise, !lost.isEmpty else { return "" }
    let names = lost.count { if case .name = $0 { true } else { false } }
    if names == lost.count { return "; the folder of a new or renamed file was not synchronized" }
    return names == 0
      ? "; its file was not synchronized" : "; neither its file nor the folder was synchronized"
  }

  /// What the context did, in the words of a driver's author.
  private static func verdict(_ last: Int, _ history: CommitHistory) -> String {
    let newest = history.outcomes.compactMap(\.last).min() ?? 0
    if last < newest { return "the store lacks transaction \(newest), which was acknowledged" }
    if history.candidates.allSatisfy({ !$0.contains(last) }), last > 0 {
      return "the store has transaction \(last), which was refused or rolled back"
    }
    return "the store has a part of a transaction, or has lost one: its newest is \(last)"
  }
}
