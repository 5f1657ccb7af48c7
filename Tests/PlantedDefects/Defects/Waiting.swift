import Foundation
import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport

extension PlantedDefect {
  /// W6: wrong waits of writers and readers.
  static let waiting: [PlantedDefect] = [
    PlantedDefect(
      "a second writer ignores the configured time", .w6,
      opening: { _, _, monitoring in MemoryContext(monitoring: monitoring) }),
    PlantedDefect(
      "a second writer does not wait", .w6,
      opening: { _, _, monitoring in
        MemoryContext(busyTimeout: .zero, monitoring: monitoring)
      }),
    PlantedDefect(
      "waiting writers proceed in random order", .w6,
      opening: { _, options, monitoring in
        var flaw = Flaw()
        flaw.transaction = { context, body in
          let end = Date(timeIntervalSinceNow: Double(options.busyMilliseconds ?? 5000) / 1000)
          while true {
            do {
              return try context.transaction(body)
            } catch let error as PersistenceError where error.code == .busy && Date() < end {
              usleep(.random(in: 1000...20_000))
            }
          }
        }
        return FlawedContext(MemoryContext(busyTimeout: .zero, monitoring: monitoring), flaw)
      }),
    PlantedDefect("readers wait for the writer", .w6, isSemantic: false) { flaw in
      let gate = WriterGate()
      flaw.reading = { body in
        if gate.isEnteredByThisThread { return try body() }
        try gate.withEntry(timeout: .seconds(1), location: "memory:", body)
      }
      flaw.transaction = { context, body in
        try context.transaction { transaction in
          try gate.withEntry(timeout: .seconds(5), location: "memory:") { try body(transaction) }
        }
      }
    },
  ]
}
