import DataAccess
import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing

@Suite("Repository data source")
struct RepositoryDataSourceTests {
  @Test("writes, queries and pages do not block the caller (E1)", arguments: ContextUnderTest.ours)
  func everyday(context: ContextUnderTest) async throws {
    let repository = try context.makeStore().open()
    defer { try? repository.close() }
    let source = repository.dataSource(of: Errand.self)
    for number in 0..<10 { try await source.insert(Errand(id: number, title: "t\(number % 3)")) }

    let found = try await source.filter(where: \.title == "t1").sorted(by: \.id, inOrder: .descending)
      .result()
    #expect(found.map(\.id) == [7, 4, 1])
    var pages: [[Int]] = []
    for try await page in source.filter().pages(of: 4) { pages.append(page.map(\.id)) }
    #expect(pages == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]])

    let seven = try #require(try await source.find(7))
    try await source.update(Errand(id: 7, title: "new"), replacing: seven)
    let conflict = await #expect(throws: PersistenceError.self) {
      try await source.update(Errand(id: 7, title: "lost"), replacing: seven)
    }
    #expect(conflict?.code == .conflict)
    #expect(try await source.delete(seven)?.title == "new")
    #expect(try await source.delete(seven) == nil)
    #expect(try await source.filter().count() == 9)
  }

  @Test("a batch is atomic and idempotent", arguments: ContextUnderTest.ours)
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
    let source = repository.dataSource(of: Errand.self)
    try await source.apply(batch)
    #expect(try await source.filter().result() == [Errand(id: 2, title: "b")])

    let failing = ChangeBatch([.save(Errand(id: 3, title: "c")), .insert(Errand(id: 2, title: "twice"))])
    for _ in 0..<2 {
      let error = await #expect(throws: PersistenceError.self) { try await source.apply(failing) }
      #expect(error?.code == .duplicateKey)
    }
    #expect(try await source.find(3) == nil)
    // The rejected batch left nothing, not even its id, so it can succeed later.
    try await source.delete(Errand(id: 2, title: "b"))
    try await source.apply(failing)
    #expect(try await source.filter().count() == 2)
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
