import PersistenceConformance
import Testing

extension ConformanceCheck {
  /// Runs the check, and prints what it counted; or prints the capability that excuses the context.
  func runAndPrint(on context: ContextUnderTest) async throws {
    if let excuse = try excuse(for: context) {
      print("excused: \(context) by \(excuse.capability) from \(self)")
      return
    }
    let work = try await work(on: context)
    for (what, count) in work.counts.sorted(by: { $0.key < $1.key }) {
      print("counted: \(context) \(count) \(what) in \(self)")
    }
    // On a quiet machine, the kills and losses of power of `make test` take under a minute for each context. This limit
    // is for machines with other work.
    guard context.effort == .quick, rules[0] == .w5, !work.counts.isEmpty else { return }
    #expect(work.duration < .seconds(300), "\(self) on \(context)")
  }
}
