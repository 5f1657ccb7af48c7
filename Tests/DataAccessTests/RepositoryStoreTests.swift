import DataAccess
import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing

@Suite("The store of a repository")
struct RepositoryStoreTests {
  @Test("objects are written, queried and paged without blocking (E1)", arguments: ContextUnderTest.ours)
  func everyday(context: ContextUnderTest) async throws {
    let repository = try context.makeStore().open()
    defer { try? repository.close() }
    let store = repository.store(of: Errand.self)
    for number in 0..<10 { try await store.insert(Errand(id: number, title: "t\(number % 3)")) }

    let found = try await store.filter(where: \.title == "t1").sorted(by: \.id, inOrder: .descending).result()
    #expect(found.map(\.id) == [7, 4, 1])
    var pages: [[Int]] = []
    for try await page in store.filter().pages(of: 4) { pages.append(page.map(\.id)) }
    #expect(pages == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]])

    let seven = try #require(try await store.find(7))
    try await store.update(Errand(id: 7, title: "new"), replacing: seven)
    let conflict = await #expect(throws: PersistenceError.self) {
      try await store.update(Errand(id: 7, title: "lost"), replacing: seven)
    }
    #expect(conflict?.code == .conflict)
    #expect(try await store.delete(seven)?.title == "new")
    #expect(try await store.delete(seven) == nil)
    #expect(try await store.filter().count() == 9)
  }
}

private struct Errand: PersistentRecord, Equatable {
  var id: Int
  var title: String

  static let schema = RecordSchema<Errand>(
    "Errand", fields: [.field("id", \.id), .field("title", \.title)], key: [\.id])
  var primaryKey: Int { id }

  init(id: Int, title: String) {
    self.id = id
    self.title = title
  }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(title, at: 1)
  }
}
