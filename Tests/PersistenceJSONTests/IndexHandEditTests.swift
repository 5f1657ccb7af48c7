import Foundation
import PersistenceDriver
import PersistenceJSON
import Testing

/// Files that a person edits, adds and deletes beside an index.
struct IndexHandEditTests {
  private let place: TemporaryStore
  private let context: JSONDirectoryContext

  init() throws {
    place = try TemporaryStore()
    context = try place.open()
    try Books.fill(context, 100)
    _ = try context.ids(ofGenre: "none")
  }

  private func dramas(without ids: Int64..., with more: [Int64] = []) -> [Int64] {
    (Books.ids(below: 100) { id in id % 5 == 1 && !ids.contains(id) } + more).sorted()
  }

  @Test("only edited, added and deleted files are read again", arguments: [true, false])
  func edits(inPlace: Bool) throws {
    try place.edit(Books.file(1), "drama", "crime", inPlace: inPlace)
    try place.edit(Books.file(5), "crime", "drama", inPlace: inPlace)
    try place.remove(Books.file(6))
    let text = try place.text(Books.file(11))
    try place.write(text.replacingOccurrences(of: "11", with: "311"), to: Books.file(311))
    let wanted = dramas(without: 1, 6, with: [5, 311])
    #expect(try context.ids(ofGenre: "drama") == wanted)
    Books.settle()
    #expect(try context.ids(ofGenre: "drama") == wanted)
    let openings = try context.openings { _ = try context.ids(ofGenre: "none") }
    #expect(openings == 0)
    #expect(try place.open().ids(ofGenre: "drama") == wanted)
  }

  @Test("an edit of the same size is seen, also within the tick of the clock that the file was read in")
  func sameTick() throws {
    // The file is read right after it was written, again and again, so that times are often the same.
    for round in 0..<200 {
      let (old, new) = round % 2 == 0 ? ("drama", "crime") : ("crime", "drama")
      try place.edit(Books.file(1), old, new, inPlace: true)
      #expect(try context.ids(ofGenre: new).contains(1), "round \(round)")
      #expect(try !context.ids(ofGenre: old).contains(1), "round \(round)")
    }
  }

  @Test("an edit of the same size that restores the modification time is seen")
  func restoredTime() throws {
    let path = "\(place.path)/\(Books.file(1))"
    var before = stat()
    #expect(stat(path, &before) == 0)
    try place.edit(Books.file(1), "drama", "crime", inPlace: true)
    #expect(utimensat(AT_FDCWD, path, [before.st_mtim, before.st_mtim], 0) == 0)
    var after = stat()
    #expect(stat(path, &after) == 0)
    #expect(after.st_mtim.tv_nsec == before.st_mtim.tv_nsec && after.st_size == before.st_size)
    #expect(after.st_ino == before.st_ino)
    #expect(try context.ids(ofGenre: "drama") == dramas(without: 1))
    #expect(try context.ids(ofGenre: "crime").contains(1))
  }

  @Test("E5 R4 only queries that read a damaged file report it")
  func damage() throws {
    try place.write("{", to: Books.file(50))
    let error = #expect(throws: PersistenceError.self) { try context.ids(ofGenre: "drama") }
    #expect(error?.code == .damaged && error?.message.contains(Books.file(50)) == true)
    let sorted = try FetchRequest(Books.schema, order: [FieldOrder("price")], limit: 1)
    #expect(throws: PersistenceError.self) { try context.ids(sorted) }
    // The first rows come before it.
    let first = try context.fetch(FetchRequest(Books.schema, where: Books.genre("drama")))
    #expect(try first.read(from: 0, limit: 3) { _ in } == 3)
    let below = PredicateNode.comparison(field: "id", .less, .integer(50))
    let query = try FetchRequest(Books.schema, where: .all([below, Books.genre("drama")]))
    #expect(try context.ids(query) == dramas().filter { $0 < 50 })
  }

  @Test("W4 a unique value that an edit by hand duplicates is found by the next write")
  func unique() throws {
    try place.edit(Books.file(1), "n1", "x1", inPlace: true)
    var row = Books.row(200)
    row[5] = .text("x1")
    let error = #expect(throws: PersistenceError.self) {
      try context.transaction { try $0.insert(row, in: Books.schema) }
    }
    #expect(error?.code == .uniqueViolation)
    row[5] = .text("n1")
    try context.transaction { try $0.insert(row, in: Books.schema) }
    #expect(try context.row(RecordKey([.integer(200)]), in: Books.schema) == row)
  }

  @Test("R2 a file edited during a live result is an error with its name")
  func heldResult() throws {
    let held = try context.fetch(FetchRequest(Books.schema, where: Books.genre("drama")))
    #expect(try held.count() == 20)
    try place.edit(Books.file(51), "drama", "crime", inPlace: true)
    let error = #expect(throws: PersistenceError.self) { try held.rows() }
    #expect(error?.code == .changedOutside)
  }
}
