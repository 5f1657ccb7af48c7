import DataAccess
import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing

@Suite("The store of a repository")
struct RepositoryDataSourceTests {
  @Test("objects are written, queried and paged without blocking (E1)", arguments: ContextUnderTest.ours)
  func everyday(context: ContextUnderTest) async throws {
    let repository = try context.makeStore().open()
    defer { try? repository.close() }
    let store = repository.dataSource(of: Errand.self)
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

  @Test("a batch is applied whole and once, however often it is sent", arguments: ContextUnderTest.ours)
  func batches(context: ContextUnderTest) async throws {
    let files = try context.makeStore()
    var repository = try files.open()
    let batch = ChangeBatch([
      .insert(Errand(id: 1, title: "a")), .insert(Errand(id: 2, title: "b")),
      .delete(Errand(id: 1, title: "a")),
    ])
    try await repository.dataSource(of: Errand.self).apply(batch)
    try await repository.dataSource(of: Errand.self).apply(batch)
    if try context.capabilities().isDurable {
      try repository.close()
      repository = try files.open()
    }
    let store = repository.dataSource(of: Errand.self)
    try await store.apply(batch)
    #expect(try await store.filter().result() == [Errand(id: 2, title: "b")])

    let failing = ChangeBatch([.save(Errand(id: 3, title: "c")), .insert(Errand(id: 2, title: "twice"))])
    for _ in 0..<2 {
      let error = await #expect(throws: PersistenceError.self) { try await store.apply(failing) }
      #expect(error?.code == .duplicateKey)
    }
    #expect(try await store.find(3) == nil)
    // Nothing of it is left, not even its id: once it can be applied, it is.
    try await store.delete(Errand(id: 2, title: "b"))
    try await store.apply(failing)
    #expect(try await store.filter().count() == 2)
    try repository.close()
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
