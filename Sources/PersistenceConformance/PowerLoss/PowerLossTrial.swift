import Foundation

/// Takes the power from a recorded run at chosen moments, and compares what the context recovers with its promises.
struct PowerLossTrial {
  let context: ContextUnderTest
  let seed: UInt64
  /// The number of states.
  let limit: Int
  /// What the run was, for a report.
  var circumstance = ""

  private static let batch = 48

  /// Throws for the first state that breaks a promise.
  ///
  /// - Returns: The hash values of the different states that were opened; the states would take hundreds of megabytes.
  @discardableResult
  func check(_ run: RecordedRun) throws -> Set<Int> {
    var plan = CrashPlan(run, seed: seed)
    var known: [CrashState: StateSurvey.Finding] = [:]
    var choices = plan.choices(limit)[...]
    var expectations = Expectations(script: CommitScript(seed: seed))
    while !choices.isEmpty {
      let part = choices.prefix(Self.batch)
      choices = choices.dropFirst(Self.batch)
      let states = part.map { run.moments[$0.moment].disk.state($0.fates) }
      try survey(Set(states).subtracting(known.keys), into: &known)
      for (choice, state) in zip(part, states) {
        guard let finding = known[state] else { continue }
        let moment = run.moments[choice.moment]
        if let failure = try expectations.failure(finding, moment, choice, circumstance) { throw failure }
      }
    }
    return Set(known.keys.map(\.hashValue))
  }

  private func survey(_ states: Set<CrashState>, into known: inout [CrashState: StateSurvey.Finding]) throws {
    let states = Array(states)
    let stores = try states.map { state in
      let store = try context.makeStore()
      try state.write(to: store.folder)
      return store
    }
    defer { for store in stores { try? FileManager.default.removeItem(at: store.folder) } }
    var rest = zip(states, stores).map { $0 }
    while !rest.isEmpty {
      let findings = try StateSurvey(context: context, seed: seed).findings(rest.map(\.1))
      for ((state, _), finding) in zip(rest, findings) { known[state] = finding }
      rest.removeFirst(max(1, findings.count))
    }
  }
}
