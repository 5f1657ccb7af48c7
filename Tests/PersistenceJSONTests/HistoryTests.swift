import Foundation
import PersistenceDriver
import PersistenceJSON
import Testing

/// The earlier files that a store keeps for its readers.
struct HistoryTests {
  private let place: TemporaryStore
  private let context: JSONDirectoryContext

  init() throws {
    place = try TemporaryStore()
    context = try place.open()
    try context.save(Films.row(1, "One"), Films.row(2, "Two"))
  }

  @Test("R2 a snapshot reads the earlier text of a record that is a symbolic link")
  func symbolicLink() throws {
    let file = "\(place.path)/\(Films.folder)/1.json"
    try #require(rename(file, "\(place.path)/1.json") == 0)
    // It does not lead there from the folder of the history.
    try #require(symlink("../1.json", file) == 0)
    let snapshot = try context.snapshot()
    try context.save(Films.row(1, "Uno"))
    #expect(try snapshot.titles() == ["One", "Two"])
    #expect(try snapshot.row(Films.key(1)) == Films.row(1, "One"))
    #expect(try context.titles() == ["Uno", "Two"])
  }

  @Test("R2 an earlier file that is missing from the history is damage, not an absent record")
  func lost() throws {
    let snapshot = try context.snapshot()
    try context.save(Films.row(1, "Uno"))
    for name in try place.names(".persistence/history/2") where name != "manifest.json" {
      try place.remove(".persistence/history/2/\(name)")
    }
    let error = try #require(throws: PersistenceError.self) { try snapshot.row(Films.key(1)) }
    #expect(error.code == .damaged && error.message.contains("\(Films.folder)/1.json"), "\(error)")
    #expect(try snapshot.row(Films.key(2)) == Films.row(2, "Two"))
  }

  @Test("C3 an opening removes history that no reader needs")
  func opening() throws {
    var results: (any StorageResults)? = try context.fetch(FetchRequest(Films.schema))
    try context.save(Films.row(1, "Uno"))
    try place.open().close()
    #expect(try results?.titles() == ["One", "Two"])
    #expect(try place.names(".persistence/history") == ["2"])
    results = nil
    try place.open().close()
    #expect(try place.names(".persistence/history") == [])
  }

  @Test("R5 an interruption ends the listing of a model's files")
  func interruption() throws {
    try context.transaction { transaction in
      for id in 0..<200 as Range<Int64> { try transaction.save(Films.row(id, "x")) }
    }
    let interruption = ReadInterruption(atCheck: 3, PersistenceError(.cancelled, "the caller has gone"))
    let error = try #require(throws: PersistenceError.self) {
      try interruption.run { _ = try context.fetch(FetchRequest(Films.schema)) }
    }
    #expect(error.code == .cancelled)
  }
}
