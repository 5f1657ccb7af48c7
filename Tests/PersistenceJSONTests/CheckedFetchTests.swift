import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceJSON
import Testing

/// A plain `for` over a result meets no damaged file: the fetch names it (contract R4).
struct CheckedFetchTests {
  struct Post: PersistentRecord, Hashable {
    var id: Int64
    var title: String
    var tag: String?

    static let schema = RecordSchema<Post>(
      "Post", fields: [.field("id", \.id), .field("title", \.title), .field("tag", \.tag)], key: [\.id],
      indexes: [RecordIndex([\.tag])])
    var primaryKey: Int64 { id }

    init(_ id: Int64) {
      self.id = id
      title = "Title \(id)"
      tag = id % 2 == 0 ? "even" : nil
    }

    init(from row: borrowing Row) throws {
      id = try row.decode(at: 0)
      title = try row.decode(at: 1)
      tag = try row.decode(at: 2)
    }

    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(title, at: 1)
      row.encode(tag, at: 2)
    }
  }

  private static let count = 400
  private let place: TemporaryStore
  private let context: JSONDirectoryContext
  private let repository: Repository

  init() throws {
    place = try TemporaryStore()
    context = try place.open()
    repository = Repository(context)
    try repository.save(contentsOf: (1...Int64(Self.count)).map { Post($0) })
  }

  private func expectDamage(_ file: String, _ body: () throws -> Void) throws {
    let error = try #require(throws: PersistenceError.self) { try body() }
    #expect(error.code == .damaged && error.model == "Post", "\(error)")
    #expect(error.message.contains("Post/\(file): "), "\(error)")
    #expect(error.message.contains("line 1, column"), "\(error)")
  }

  @Test(
    "R4 a fetch throws for a damaged file behind the first page, whether the index knew it or not",
    arguments: [true, false])
  func behindFirstPage(isKnown: Bool) throws {
    if isKnown {
      Books.settle()
      #expect(try repository.filter(Post.self).result().count == Self.count)
    }
    let text = try place.text("Post/390.json")
    try place.write("{ broken", to: "Post/390.json")
    try expectDamage("390.json") { _ = try repository.filter(Post.self).result() }
    try expectDamage("390.json") { _ = try repository.filter(Post.self, where: \.title != "x").result() }
    try expectDamage("390.json") { _ = try repository.filter(Post.self, where: \.id > 100).result() }
    try expectDamage("390.json") { _ = try repository.filter(Post.self, where: \.tag == "even").result() }
    try expectDamage("390.json") { _ = try repository.filter(Post.self).limit(395).result() }
    try expectDamage("390.json") {
      _ = try repository.filter(Post.self, where: \.title != "x").limit(395).result()
    }
    try expectDamage("390.json") { _ = try repository.filter(Post.self).sorted(by: \.title).result() }
    // Requests that do not reach the file.
    #expect(
      try repository.filter(Post.self, where: \.id < 300).result().reduce(0) { sum, _ in sum + 1 } == 299)
    #expect(try repository.filter(Post.self).limit(200).result().reduce(0) { sum, _ in sum + 1 } == 200)
    #expect(try repository.find(Post.self, id: 7)?.title == "Title 7")
    try place.write(text, to: "Post/390.json")
    var ids: [Int64] = []
    for post in try repository.filter(Post.self).result() { ids.append(post.id) }
    #expect(ids == Array(1...Int64(Self.count)))
  }

  @Test("R4 a fetch through a wrapper, and one of a selection, name the damaged file too")
  func wrapped() throws {
    try place.write("{ broken", to: "Post/390.json")
    let viewer = Repository(ReadOnlyContext(context))
    try expectDamage("390.json") { _ = try viewer.filter(Post.self).result() }
    try expectDamage("390.json") { _ = try repository.filter(Post.self).select(\.title) }
    // The keys are in the names of the files.
    #expect(try repository.filter(Post.self).select(\.id).count == Self.count)
  }

  @Test("R1 a checked file is not read again by the next fetch, in a new process too")
  func knownFiles() throws {
    Books.settle()
    let first = try context.openings { _ = try repository.filter(Post.self).result() }
    // The first page, which has been read, is not checked too.
    #expect(first >= Self.count && first < Self.count + 100, "\(first)")
    for context in [context, try place.open()] {
      let openings = try context.openings { _ = try Repository(context).filter(Post.self).result() }
      #expect(openings < Self.count / 2, "\(openings)")
    }
    try place.edit("Post/400.json", "Title", "Other")
    let one = try context.openings { _ = try repository.filter(Post.self).result() }
    #expect(one < Self.count / 2, "\(one)")
  }

  @Test(
    "R2 a file that is exchanged for an earlier one is an error in a live result, whether the index knew it or not",
    arguments: [true, false])
  func exchangedFile(isKnown: Bool) throws {
    if isKnown {
      Books.settle()
      _ = try repository.filter(Post.self).result()
    }
    let results = try [
      repository.filter(Post.self).result(), repository.filter(Post.self, where: \.title != "x").result(),
    ]
    let text = try place.text("Post/390.json").replacingOccurrences(of: "Title", with: "Other")
    try place.write(text, to: "other.json")
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -86_400)], ofItemAtPath: "\(place.path)/other.json")
    #expect(rename("\(place.path)/other.json", "\(place.path)/Post/390.json") == 0)
    for result in results {
      let error = #expect(throws: PersistenceError.self) { try result.forEach { _ in } }
      #expect(
        error?.code == .changedOutside && error?.message.contains("Post/390.json") == true,
        "\(String(describing: error))")
    }
    #expect(try repository.find(Post.self, id: 390)?.title == "Other 390")
    #expect(try repository.filter(Post.self).result().count == Self.count)
  }

  @Test("R4 a fetch in a transaction and an observer's first result name the damaged file too")
  func otherRoutes() async throws {
    try place.write("{ broken", to: "Post/390.json")
    try expectDamage("390.json") {
      try repository.transaction { _ = try $0.filter(Post.self).result() }
    }
    let error = await #expect(throws: PersistenceError.self) {
      for try await update in repository.filter(Post.self).updates() {
        for _ in update.results {}
        break
      }
    }
    #expect(error?.code == .damaged)
  }
}
