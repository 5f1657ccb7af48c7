import Foundation
import Logging
import PersistenceCore

/// R1 R2: what results hold.
enum HeldResultChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a commit reports a result that was held for too long, with the line of code that requested it", [.r2],
      reported),
    ConformanceCheck(
      "fetch takes no memory for the rows that are not read", [.r1], needs: [.writable, .durable], notEager
    ).slow,
  ]

  @Sendable private static func reported(_ context: ContextUnderTest) throws {
    let log = LogRecorder()
    let limit = Duration.milliseconds(20)
    let repository = try context.makeStore().open(
      monitoring: Monitoring(logger: log.logger(), slowRequest: .seconds(600), longHeldResult: limit))
    try repository.save(contentsOf: (1...300).map { Account($0, balance: $0) })
    let held = try repository.filter(Account.self).result()
    let since = ContinuousClock.now
    while ContinuousClock.now - since <= limit { usleep(1000) }
    try repository.save(Account(1, balance: 2))
    let warnings = log.lines(.warning)
    try expect(warnings.count, equals: 1, "warnings after a commit beside a long-held result: \(warnings)")
    try expect(warnings.first?.contains("HeldResultChecks.swift") == true, "the place in \(warnings)")
    try repository.save(Account(2, balance: 2))
    try expect(log.lines(.warning).count, equals: 1, "warnings about one result after two commits")
    withExtendedLifetime(held) {}
  }

  @Sendable private static func notEager(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open()
    let note = String(repeating: "sixteen bytes – ", count: 1_000)
    try repository.save(contentsOf: (1...400).map { Account($0, balance: $0, note: note) })
    try repository.close()
    let worker = try store.worker("peek")
    try expect(worker.waitUntilOver() == .success, "\(worker.lines.suffix(2))")
    try expect(worker.lines.contains("read 1"), "\(worker.lines.suffix(2))")
    let grown = worker.lines.first { $0.hasPrefix("grown ") }.flatMap { Int($0.dropFirst(6)) }
    let size = 400 * note.utf8.count
    try expect(
      try require(grown, "\(worker.lines)") < size / 3,
      "fetching \(size) bytes of rows and reading one took \(grown ?? 0) bytes of memory")
  }
}
