import DataAccess
import Foundation
import OfflineModels
import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceSQLite
import Testing

@Suite("Kills of a device that writes and sends")
struct DeviceKillTests {
  @Test("both sides are equal at the end, with nothing lost and nothing twice")
  func kills() async throws {
    let kills = Environment.isSoak ? 100 : 4
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kills-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let program = try #require(WorkerProgram.besideThisProgram("LayerWorker"))
    let context = ContextUnderTest(engine: .sqlite, effort: .quick, worker: program)
    let place = StoreUnderTest(context, folder: folder)
    var (acknowledged, killed) = (0, 0)
    while killed < kills {
      // Enough work that the kill comes first, even on a fast machine.
      let worker = try place.worker("run", "\(acknowledged + 5_000)")
      // The kill hits a random point after this line.
      try worker.wait(for: "ack ")
      try await Task.sleep(for: .microseconds(Int.random(in: 0...30_000)))
      worker.kill()
      #expect(worker.acknowledged > acknowledged)
      acknowledged = worker.acknowledged
      if !worker.lines.contains("done") { killed += 1 }
    }
    let writes = acknowledged + 100
    let last = try place.worker("run", "\(writes)")
    #expect(last.waitUntilOver() == .success)
    #expect(last.lines.last == "done")

    let device = try Repository(opening: "sqlite:\(place.path)", engines: [.sqlite])
    let remote = try Repository(opening: "sqlite:\(place.path)-remote", engines: [.sqlite])
    #expect(Array(try device.fetch(Job.self)) == Job.stored(after: writes))
    #expect(Array(try remote.fetch(Job.self)) == Job.stored(after: writes))
    var options = LayerOptions<Job>()
    options.writes = .localFirst
    let source = try LayeredDataSource(
      local: device.dataSource(of: Job.self), remote: remote.dataSource(of: Job.self), options: options)
    let outbox = try #require(source.outbox)
    #expect(try await outbox.count() == 0)
    #expect(try await outbox.setAside().isEmpty)
    try device.close()
    try remote.close()
  }
}
