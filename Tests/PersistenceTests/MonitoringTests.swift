import Foundation
import Logging
import Persistence
import PersistenceConformance
import Testing

/// A context logs its own operations, but never the data of its users.
struct MonitoringTests {
  @Persistent
  struct Secret {
    var id: Int
    var text: String
  }

  private func repository(_ log: LogRecorder, slow: Duration = .seconds(60), long: Duration = .seconds(60))
    throws
    -> Repository
  {
    let monitoring = Monitoring(logger: log.logger(), slowRequest: slow, longHeldResult: long)
    let repository = Repository(MemoryContext(monitoring: monitoring))
    try repository.save(contentsOf: (0..<400).map { Secret(id: $0, text: "classified \($0)") })
    return repository
  }

  @Test("opening is logged, at debug level")
  func opening() throws {
    let log = LogRecorder()
    _ = try repository(log)
    #expect(log.lines(.debug).contains { $0.contains("opened") && $0.contains("memory:") })
    #expect(log.lines(.info).isEmpty)
  }

  @Test("a slow request is logged with its plan and shape; its values only at debug level")
  func slowRequests() throws {
    let log = LogRecorder()
    let repository = try repository(log, slow: .zero)
    _ = try repository.filter(Secret.self, where: .contains(\.text, "classified 7")).sorted(by: \.text)
      .result()
    let slow = log.lines(.warning)
    #expect(
      slow.contains { $0.contains("slow request") && $0.contains("contains(text, ?)") && $0.contains("scan") }
    )
    for level in Logger.Level.allCases where level > .debug {
      #expect(!log.lines(level).contains { $0.contains("classified") })
    }
    #expect(log.lines(.debug).contains { $0.contains("classified 7") })
  }

  @Test("a slow request with thousands of values is logged in a line of bounded length")
  func longRequests() throws {
    let log = LogRecorder()
    let repository = try repository(log, slow: .zero)
    _ = try repository.filter(Secret.self, where: .in(\.id, Array(0..<5_000))).result()
    let lines = log.lines(.warning) + log.lines(.debug)
    #expect(
      lines.contains { $0.contains("slow request") && $0.contains("id in [?, ?") && $0.contains("… (") })
    #expect(lines.allSatisfy { $0.utf8.count < 5_000 })
  }

  @Test("an error's code is printed by its name")
  func codes() {
    #expect("\(PersistenceError.Code.duplicateKey)" == "duplicateKey")
    #expect(String(describing: PersistenceError.invalidRequest("x").code) == "invalidRequest")
  }

  @Test("R2 a long-held result is logged once, with its call site")
  func longHeldResults() throws {
    let log = LogRecorder()
    let repository = try repository(log, long: .zero)
    do {
      let line = #line + 1
      let held = try repository.filter(Secret.self).result()
      try repository.save(Secret(id: 1, text: ""))
      try repository.save(Secret(id: 2, text: ""))
      #expect(held.count == 400)
      let reports = log.lines(.warning).filter { $0.contains("held") }
      #expect(reports.count == 1)
      #expect(reports.first?.contains("MonitoringTests.swift:\(line)") == true)
    }
    #expect((repository.context as? MemoryContext)?.monitor.liveResults == 0)
  }

  @Test("R2 a result with only one page pins nothing")
  func smallResults() throws {
    let repository = try repository(LogRecorder())
    let small = try repository.filter(Secret.self).limit(10).result()
    let large = try repository.filter(Secret.self).result()
    #expect((repository.context as? MemoryContext)?.monitor.liveResults == 1)
    #expect(small.count == 10 && large.count == 400)
  }
}
