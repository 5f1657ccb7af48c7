import Foundation
import MigrationStores
import PersistenceDriver
import PersistenceMigration
import Testing

/// Kills migrations at random moments and resumes them.
///
/// `PERSISTENCE_SOAK` sets the number of kills in hundreds; by default there are a few for each pair of engines.
@Suite("Killing a migration", .serialized)
struct KillTests {
  private static let soak = ProcessInfo.processInfo.environment["PERSISTENCE_SOAK"].map {
    max(1, Int($0) ?? 1)
  }
  private static let records = soak == nil ? 500 : 1500

  static let pairs =
    TestStores.durable.flatMap { from in TestStores.durable.map { Pair(from: from, to: $0) } }
    + TestStores.servers.flatMap { [Pair(from: "sqlite", to: $0), Pair(from: $0, to: "json")] }

  struct Pair: Sendable, CustomTestStringConvertible {
    var from: String
    var to: String
    var testDescription: String { "\(from) to \(to)" }
  }

  /// A source, and the destination of killed migrations.
  private struct Stores {
    let pair: Pair
    let folder: URL
    var source: String { folder.appendingPathComponent("source").path }
    var destination: String { folder.appendingPathComponent("destination").path }
    var rejects: String { folder.appendingPathComponent("rejects.ndjson").path }

    func arguments(
      _ start: MigrationOptions.Start, _ verification: MigrationOptions.Verification, rejecting: Bool
    ) -> [String] {
      [pair.from, source, pair.to, destination, start.rawValue, verification.rawValue, "100"]
        + (rejecting ? [rejects] : [])
    }

    /// How to start the next run; nil if the migration is published.
    func next() throws -> MigrationOptions.Start? {
      guard TestStores.mayExist(pair.to, destination) else { return .new }
      let store = try TestStores.open(pair.to, destination)
      defer { try? store.close() }
      let catalog = try store.catalog()
      if catalog.contains(where: { $0.name == ReservedModel.fillLedger }) {
        #expect(throws: PersistenceError.self) { try store.requireComplete() }
        return .resume
      }
      try store.requireComplete()
      return catalog.isEmpty ? .new : nil
    }

    /// Checks that the destination holds exactly the expected records.
    func check(rejecting: Bool) throws {
      let (source, destination) = (
        try TestStores.open(pair.from, source), try TestStores.open(pair.to, destination)
      )
      let report = try StoreComparison(source, destination).run()
      #expect(report.models.map(\.name) == ["Pair", "every/kind é"])
      if rejecting {
        let refused = (0..<KillTests.records).filter { $0.isMultiple(of: 97) }
        #expect(report.models[0].onlyLeft == refused.count)
        #expect(report.models.allSatisfy { $0.onlyRight == 0 && $0.changed == 0 })
        let lines = try String(contentsOfFile: rejects, encoding: .utf8).split(separator: "\n")
        let rejects = try lines.map { try JSONDecoder().decode(MigrationReject.self, from: Data($0.utf8)) }
        #expect(rejects.count == refused.count)
        #expect(Set(rejects.compactMap(\.key)).count == refused.count)
        #expect(Set(rejects.compactMap(\.key)) == Set(report.models[0].differences.map(\.key)))
      } else {
        #expect(report.isEqual, "\(report)")
      }
      try source.close()
      try destination.close()
    }
  }

  private func withStores(_ pair: Pair, _ body: (Stores) throws -> Void) throws {
    try TestStores.withFolder { folder in
      let stores = Stores(pair: pair, folder: folder)
      let source = try TestStores.open(pair.from, stores.source)
      try SampleStores.fill(source, pairCount: Self.records)
      try source.close()
      try body(stores)
    }
  }

  /// The duration of an undisturbed migration, in microseconds.
  private func duration(_ stores: Stores) throws -> UInt32 {
    let start = ContinuousClock.now
    let run = try WorkerRun(stores.arguments(.new, .digest, rejecting: false), killedAfter: nil)
    #expect(run.isFinished && run.lines.last?.hasPrefix("finished") == true, "\(run.lines.suffix(1))")
    let microseconds = (ContinuousClock.now - start) / .microseconds(1)
    try TestStores.remove(stores.pair.to, stores.destination)
    return UInt32(microseconds)
  }

  /// Calls a closure with new stores until enough processes are killed.
  ///
  /// - Parameters:
  ///   - kills: The number of kills.
  ///   - pair: The engines.
  ///   - body: A closure that receives the stores and the duration of an undisturbed run, and counts its kills.
  /// - Throws: Errors of the closure.
  private func until(
    _ kills: Int, _ pair: Pair, _ body: (Stores, UInt32, inout Int) throws -> Void
  ) throws {
    var killed = 0
    while killed < kills {
      try withStores(pair) { stores in try body(stores, try duration(stores), &killed) }
    }
  }

  @Test("A killed migration resumes and copies every record once", arguments: pairs)
  func kills(pair: Pair) throws {
    var random = SystemRandomNumberGenerator()
    let kills = Self.soak.map { $0 * 300 / Self.pairs.count + 1 } ?? 3
    try until(kills, pair) { stores, duration, killed in
      // Kill runs on the same stores until the migration completes, then continue with others.
      let rejecting = Bool.random(using: &random)
      let verification = MigrationOptions.Verification.allCases.randomElement(using: &random) ?? .digest
      while let start = try stores.next() {
        let delay = UInt32.random(in: 5_000...max(10_000, duration), using: &random)
        let isKilled = killed < kills
        let run = try WorkerRun(
          stores.arguments(start, verification, rejecting: rejecting), killedAfter: isKilled ? delay : nil)
        #expect(!run.lines.contains { $0.hasPrefix("error") }, "\(pair) \(run.lines.suffix(1))")
        if !run.isFinished { killed += 1 }
        if !isKilled, !run.isFinished { break }
      }
      try stores.check(rejecting: rejecting)
    }
  }

  @Test("A killed resumption resumes again", arguments: pairs)
  func killsDuringResume(pair: Pair) throws {
    var random = SystemRandomNumberGenerator()
    let kills = Self.soak.map { $0 * 100 / Self.pairs.count + 1 } ?? 1
    try until(kills, pair) { stores, duration, killed in
      // The first run leaves an unfinished migration.
      while try stores.next() == .new {
        let delay = UInt32.random(in: duration / 4...duration, using: &random)
        _ = try WorkerRun(stores.arguments(.new, .digest, rejecting: false), killedAfter: delay)
      }
      while let start = try stores.next(), killed < kills {
        let delay = UInt32.random(in: 5_000...max(10_000, duration), using: &random)
        let run = try WorkerRun(stores.arguments(start, .digest, rejecting: false), killedAfter: delay)
        #expect(!run.lines.contains { $0.hasPrefix("error") }, "\(pair) \(run.lines.suffix(1))")
        if !run.isFinished, start == .resume { killed += 1 }
      }
      while let start = try stores.next() {
        let run = try WorkerRun(stores.arguments(start, .digest, rejecting: false), killedAfter: nil)
        try #require(run.lines.last?.hasPrefix("finished") == true, "\(pair) \(run.lines.suffix(1))")
      }
      try stores.check(rejecting: false)
    }
  }

  @Test("A killed migration restarts", arguments: TestStores.durable)
  func restarts(engine: String) throws {
    var random = SystemRandomNumberGenerator()
    try withStores(Pair(from: "sqlite", to: engine)) { stores in
      let duration = try duration(stores)
      var restarts = 0
      while restarts < (Self.soak ?? 0) * 20 + 3 {
        let start: MigrationOptions.Start = try stores.next() == .resume ? .restart : .new
        let delay = UInt32.random(in: 5_000...duration, using: &random)
        let run = try WorkerRun(stores.arguments(start, .count, rejecting: false), killedAfter: delay)
        #expect(!run.lines.contains { $0.hasPrefix("error") }, "\(engine) \(run.lines.suffix(1))")
        if start == .restart { restarts += 1 }
        if try stores.next() == nil {
          try stores.check(rejecting: false)
          let store = try TestStores.open(engine, stores.destination)
          try store.transaction { for schema in try $0.catalog() { try $0.drop(schema) } }
          try store.close()
        }
      }
      let last = try WorkerRun(stores.arguments(.restart, .full, rejecting: false), killedAfter: nil)
      try #require(last.lines.last?.hasPrefix("finished") == true, "\(engine) \(last.lines.suffix(1))")
      try stores.check(rejecting: false)
    }
  }
}
