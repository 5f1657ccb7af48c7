#if HTTP
  import DataAccess
  import Foundation
  import OurContexts
  import PersistenceConformance
  import PersistenceCore
  import PersistenceRemote
  import PersistenceSQLite
  import Testing

  @Suite("Offline, with the real server", .serialized)
  struct OfflineTests {
    @Test(
      "both sides are equal at the end of many writes with server restarts, and nothing happened twice"
    )
    func kills() async throws {
      let (writes, kills) = Environment.isSoak ? (10_000, 20) : (500, 3)
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("offline-\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let server = Server(store: "sqlite:\(folder.path)/server.sqlite")
      try server.start()
      let repository = try Repository(opening: "sqlite:\(folder.path)/device.sqlite", engines: [.sqlite])
      var options = LayerOptions<Errand>()
      options.writes = .localFirst
      options.remote = LayerLimits(timeout: .seconds(20), retry: .once)
      options.outbox = RetryPolicy(
        attempts: 1000, firstDelay: .milliseconds(5), longestDelay: .milliseconds(200))
      let remote = try RemoteServer(server.url).dataSource(of: Errand.self)
      let source = try LayeredDataSource(
        cache: CacheDataSource(), local: repository.dataSource(of: Errand.self), remote: remote,
        options: options)

      // Conditional updates change the counter, so a repeated one would fail as a conflict.
      try await source.insert(Errand(0, "counter", count: 0))
      var generator = SystemRandomNumberGenerator()
      var open: [Int] = []
      for number in 1..<writes {
        if number % (writes / kills) == writes / kills / 2 {
          server.kill()
        } else if number % (writes / kills) == writes / kills / 2 + writes / kills / 4 {
          try server.start()
        }
        switch number % 4 {
        case 0:
          let counter = try #require(try await stored(0, in: repository))
          try await source.update(Errand(0, "counter", count: counter.count + 1), replacing: counter)
        case 1 where !open.isEmpty:
          let id = open.remove(at: Int.random(in: open.indices, using: &generator))
          try await source.delete(Errand(id, "", count: 0))
        default:
          try await source.insert(Errand(number, "task \(number)", count: number))
          open.append(number)
        }
      }
      #expect(server.starts == kills + 1)
      let outbox = try #require(source.outbox)
      let deadline = Date(timeIntervalSinceNow: Environment.isSoak ? 600 : 60)
      while try await outbox.count() > 0, Date() < deadline { try? await outbox.send() }
      #expect(try await outbox.count() == 0)
      #expect(try await outbox.setAside().isEmpty)
      let mine = try repository.fetch(Errand.self).map(\.self)
      #expect(mine.first?.count == (writes - 1) / 4)
      #expect(try await remote.execute(FetchOptions()) == mine)
      #expect(try await source.answer(to: FetchOptions()).source == .remote)
      server.kill()
      // The server's file, opened without the server.
      let theirs = try Repository(opening: "sqlite:\(folder.path)/server.sqlite", engines: [.sqlite])
      #expect(try theirs.fetch(Errand.self).map(\.self) == mine)
      try theirs.close()
      try repository.close()
    }

    private func stored(_ id: Int, in repository: Repository) async throws -> Errand? {
      try repository.find(Errand.self, id: id)
    }
  }

  private struct Errand: PersistentRecord, Equatable {
    var id: Int
    var title: String
    var count: Int

    static let schema = RecordSchema<Errand>(
      "Errand", fields: [.field("id", \.id), .field("title", \.title), .field("count", \.count)], key: [\.id])
    var primaryKey: Int { id }

    init(_ id: Int, _ title: String, count: Int) { (self.id, self.title, self.count) = (id, title, count) }

    init(from row: borrowing Row) throws {
      id = try row.decode(at: 0)
      title = try row.decode(at: 1)
      count = try row.decode(at: 2)
    }

    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(title, at: 1)
      row.encode(count, at: 2)
    }
  }
#endif
