import DataAccess
import Foundation
import PersistenceCore
import Testing

/// A record of a remote store that others refer to.
private struct Shelf: PersistentRecord, Hashable, Codable {
  var id: Int

  static let schema = RecordSchema<Shelf>("Shelf", fields: [.field("id", \.id)], key: [\.id])
  var primaryKey: Int { id }

  init(_ id: Int) { self.id = id }
  init(from row: borrowing Row) throws { id = try row.decode(at: 0) }
  func encode(into row: RowBuffer) throws { row.encode(id, at: 0) }
}

/// A record with a reference.
private struct Book: PersistentRecord, Hashable, Codable {
  var id: Int
  var shelf: Reference<Shelf>

  static let schema = RecordSchema<Book>(
    "Book", fields: [.field("id", \.id), .field("shelf", \.shelf, onDelete: .cascade)], key: [\.id])
  var primaryKey: Int { id }

  init(_ id: Int, _ shelf: Int) { (self.id, self.shelf) = (id, Reference(shelf)) }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    shelf = try row.decode(at: 1)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(shelf, at: 1)
  }
}

@Suite("Layers keep no references in their copies")
struct MirrorTests {
  /// A layered data source over a remote repository and a copy.
  private func source<Object: PersistentRecord>(
    of type: Object.Type, _ layer: DataSourceLayer, _ copy: Repository, _ remote: Repository
  ) throws -> LayeredDataSource<Object> {
    let (copy, remote) = (copy.dataSource(of: type), remote.dataSource(of: type))
    return try layer == .cache
      ? LayeredDataSource(cache: copy, remote: remote) : LayeredDataSource(local: copy, remote: remote)
  }

  @Test(
    "L9 a copy takes children before their parents, and nothing follows a delete",
    arguments: [DataSourceLayer.local, .cache])
  func mirror(layer: DataSourceLayer) async throws {
    let local = Repository(MemoryContext())
    let remote = Repository(MemoryContext())
    try remote.save(contentsOf: [Shelf(1), Shelf(2)])
    try remote.save(contentsOf: [Book(1, 1), Book(2, 2)])
    let books = try source(of: Book.self, layer, local, remote)
    let shelves = try source(of: Shelf.self, layer, local, remote)
    #expect(try await books.execute(FetchOptions()) == [Book(1, 1), Book(2, 2)])
    #expect(try local.count(Book.self) == 2)
    #expect(try local.count(Shelf.self) == 0)
    #expect(try await shelves.execute(FetchOptions()).count == 2)
    try await shelves.delete(Shelf(1))
    // The remote store decides, and the copy learns of it with the next answer.
    #expect(try local.find(Book.self, id: 1) != nil)
    #expect(try remote.find(Book.self, id: 1) == nil)
    #expect(try await books.execute(FetchOptions()) == [Book(2, 2)])
    let found = try local.filter(Book.self).including(ifPresent: \.shelf).result()
    #expect(found.map { $0.1?.id } == [2])
    // The copy does not have the parent yet.
    try remote.save(Shelf(3))
    try await books.save(Book(3, 3))
    try await books.apply(ChangeBatch([.save(Book(4, 3)), .delete(Book(2, 2))]))
    #expect(try local.filter(Book.self).result().map(\.id) == [3, 4])
  }

  @Test("L9 the store that decides refuses a broken reference, and the copy does not have it")
  func refused() async throws {
    let local = Repository(MemoryContext())
    let remote = Repository(MemoryContext())
    let books = try LayeredDataSource(
      local: RepositoryDataSource<Book>(local), remote: RepositoryDataSource<Book>(remote))
    await #expect { try await books.save(Book(1, 7)) } throws: { error in
      (error as? PersistenceError)?.code == .brokenReference
    }
    #expect(try local.count(Book.self) == 0)
  }
}
