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
  @Test("L9 a local copy takes children before their parents, and nothing follows a delete")
  func mirror() async throws {
    let local = Repository(MemoryContext())
    let remote = Repository(MemoryContext())
    try remote.save(contentsOf: [Shelf(1), Shelf(2)])
    try remote.save(contentsOf: [Book(1, 1), Book(2, 2)])
    let books = try LayeredDataSource(
      local: RepositoryDataSource<Book>(local), remote: RepositoryDataSource<Book>(remote))
    let shelves = try LayeredDataSource(
      local: RepositoryDataSource<Shelf>(local), remote: RepositoryDataSource<Shelf>(remote))
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
