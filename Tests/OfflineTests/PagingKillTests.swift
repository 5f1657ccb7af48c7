#if HTTP
  import DataAccess
  import Foundation
  import OurContexts
  import PersistenceConformance
  import PersistenceCore
  import PersistenceRemote
  import PersistenceSQLite
  import Testing

  @Suite("Kills of a server during pagination", .serialized)
  struct PagingKillTests {
    @Test("the iteration resumes or throws, and never ends early", .timeLimit(.minutes(2)))
    func kills() async throws {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("walk-\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      // Far more than all buffers hold.
      let count = 6_000
      let repository = try Repository(opening: "sqlite:\(folder.path)/server.sqlite", engines: [.sqlite])
      try repository.insert(contentsOf: (0..<count).map { Page($0, String(repeating: "x", count: 8_000)) })
      try repository.close()
      let server = Server(store: "sqlite:\(folder.path)/server.sqlite")
      var (resumed, broken) = (0, 0)
      for round in 0..<4 {
        try server.start()
        let source = try RemoteServer(server.url).dataSource(of: Page.self)
        try await ready(source)
        let isBack = round % 2 == 0
        let (limit, offset) = round < 2 ? (Int?.none, 0) : (count - 100, 50)
        var query = FetchOptions<Page>()
        query.limit = limit
        query.offset = offset
        let wanted = Array((offset..<count).prefix(limit ?? count))
        var found: [Int] = []
        do throws(PersistenceError) {
          for try await page in source.pages(query, size: 100) {
            found += page.map(\.id)
            guard found.count == 500 else { continue }
            server.kill()
            guard isBack else { continue }
            do { try server.start() } catch { throw PersistenceError(.missingStore, "\(error)") }
            try await ready(RemoteServer(server.url).dataSource(of: Page.self))
          }
          #expect(found == wanted)
          #expect(isBack)
          resumed += 1
        } catch {
          #expect(error.code == .unreachable)
          #expect(!isBack)
          #expect(found == Array(wanted.prefix(found.count)))
          broken += 1
        }
        server.kill()
      }
      #expect(resumed == 2 && broken == 2)
    }

    /// Waits until the server answers.
    private func ready(_ source: RemoteDataSource<Page>) async throws(PersistenceError) {
      for attempt in 0... {
        do throws(PersistenceError) {
          _ = try await source.find(0)
          return
        } catch {
          if attempt == 500 { throw error }
          try? await Task.sleep(for: .milliseconds(20))
        }
      }
    }
  }

  private struct Page: PersistentRecord {
    var id: Int
    var text: String

    static let schema = RecordSchema<Page>(
      "Page", fields: [.field("id", \.id), .field("text", \.text)], key: [\.id])
    var primaryKey: Int { id }

    init(_ id: Int, _ text: String) { (self.id, self.text) = (id, text) }

    init(from row: borrowing Row) throws {
      id = try row.decode(at: 0)
      text = try row.decode(at: 1)
    }

    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(text, at: 1)
    }
  }
#endif
