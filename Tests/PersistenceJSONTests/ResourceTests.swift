import Foundation
import PersistenceDriver
import PersistenceJSON
import Testing

/// The process resources that a store uses.
@Suite(.serialized)
struct ResourceTests {
  /// The open files of this process that lie below a path, by their names.
  private func openFiles(below path: String) throws -> [String] {
    let folder = "/proc/self/fd"
    return try FileManager.default.contentsOfDirectory(atPath: folder).compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
    }.filter { $0.hasPrefix(path) }.map { String($0.dropFirst(path.count)) }.sorted()
  }

  @Test(
    "a context closes every file that it opened",
    .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd")))
  func filesAreGivenBack() throws {
    let place = try TemporaryStore()
    for number in 0..<3 as Range<Int64> {
      let context = try place.open()
      try context.save(Films.row(number, "One", "\(number)"))
      let results = try context.fetch(FetchRequest(Films.schema))
      let snapshot = try context.snapshot()
      try context.save(Films.row(number, "Uno", "\(number)"))
      #expect(try results.titles().last == "One" && snapshot.titles().last == "One")
      #expect(try context.titles().last == "Uno")
      let open = try openFiles(below: place.path)
      #expect(open.count < 12, "\(open)")
    }
    #expect(try openFiles(below: place.path) == [])
  }

  @Test(
    "C3 a closed context keeps no file open, even while it is referenced",
    .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd")))
  func closedContexts() throws {
    let place = try TemporaryStore()
    let (context, reader) = (try place.open(), try place.openForReading())
    try context.save(Films.row(1, "One"))
    #expect(try reader.titles() == ["One"])
    try withExtendedLifetime((context, reader)) {
      for context in [context, reader] { try context.close() }
      #expect(try openFiles(below: place.path) == [])
      #expect(try #require(throws: PersistenceError.self) { try context.titles() }.code == .closed)
    }
  }
}
