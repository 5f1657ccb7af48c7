import Foundation
import PersistenceDriver
import PersistenceJSON
import Testing

/// Processes that are killed while they write, and processes that write concurrently (contract W5, C2).
struct KillTests {
  private static let steps = [
    "stage", "manifest", "journal", "begin", "apply 0", "apply 1", "publish", "forget", "prune",
  ]

  @Test("W5 a process killed at any step leaves all of its transaction or nothing")
  func killedAtSteps() async throws {
    for step in Self.steps {
      let place = try TemporaryStore()
      try place.open().save(Films.row(1, "One", "a"))
      let path = place.path
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, step = step as String] in
        var configuration = JSONDirectoryConfiguration()
        configuration.step = { if $0 == step { kill(getpid(), SIGKILL) } }
        let context = try JSONDirectoryContext(path: path, configuration: configuration)
        try context.save(Films.row(1, "Uno", "b"), Films.row(2, "Two", "a"))
      }
      let titles = try place.open().titles()
      let isCommitted = (Self.steps.firstIndex(of: step) ?? 0) > 2
      #expect(titles == (isCommitted ? ["Uno", "Two"] : ["One"]), "\(step)")
      #expect(try place.names(".persistence/stage") == [] && place.names(".persistence/journal") == [])
    }
  }

  @Test("W5 a process killed at a random moment keeps its acknowledged commits")
  func killedAtRandom() async throws {
    let place = try TemporaryStore()
    try place.open().save(Films.row(0, "-1"), Films.row(1, "-1"))
    let path = place.path
    for round in 0..<12 {
      let microseconds = UInt32(3_000 + round * 2_711)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, microseconds = microseconds as UInt32] in
        let context = try JSONDirectoryContext(
          path: path, configuration: JSONDirectoryConfiguration(synchronization: .off))
        let acknowledged = open(path + "-acknowledged", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        Thread.detachNewThread {
          usleep(microseconds)
          kill(getpid(), SIGKILL)
        }
        var next = (try context.titles().first).flatMap { Int($0) } ?? -1
        while true {
          next += 1
          try context.save(Films.row(0, "\(next)"), Films.row(1, "\(next)", "\(next)"))
          withUnsafeBytes(of: next) { _ = pwrite(acknowledged, $0.baseAddress, 8, 0) }
        }
      }
      let data = (try? Data(contentsOf: URL(fileURLWithPath: path + "-acknowledged"))) ?? Data()
      let titles = try place.open().titles()
      #expect(titles.count == 2 && titles[0] == titles[1], "torn: \(titles)")
      if data.count == 8 {
        let last = data.withUnsafeBytes { $0.loadUnaligned(as: Int.self) }
        #expect(titles[0] == "\(last)" || titles[0] == "\(last + 1)", "acknowledged \(last), found \(titles)")
      }
    }
  }

  @Test("C2 two processes increment a counter, and a third sees no torn snapshot")
  func processes() async throws {
    let place = try TemporaryStore()
    try place.open().save(Films.row(0, "0"), Films.row(1, "0"))
    let path = place.path
    async let first: Void = count(path)
    async let second: Void = count(path)
    let context = try place.open()
    for _ in 0..<200 {
      let titles = try context.fetch(FetchRequest(Films.schema)).titles()
      #expect(titles.count == 2 && titles[0] == titles[1], "torn: \(titles)")
    }
    _ = await (first, second)
    #expect(try context.titles() == ["100", "100"])
  }

  private func count(_ path: String) async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      let context = try JSONDirectoryContext(
        path: path,
        configuration: JSONDirectoryConfiguration(synchronization: .off, busyTimeout: .seconds(60)))
      for _ in 0..<50 {
        try context.transaction { transaction in
          let next = (Int(try transaction.titles()[0]) ?? -1000) + 1
          try transaction.save(Films.row(0, "\(next)"))
          try transaction.save(Films.row(1, "\(next)"))
        }
      }
    }
  }
}
