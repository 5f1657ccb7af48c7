import Foundation
import PersistenceDriver
import Testing

@testable import PersistenceJSON

/// Files whose sizes exceed any memory.
struct HugeFileTests {
  @Test(
    "E5 a sparse file of any size is damage of its record, and keeps no other from being read and written",
    arguments: [File.sizeLimit + 1, 1 << 42])
  func records(size: Int) throws {
    let place = try TemporaryStore()
    let context = try place.open()
    try context.save(Films.row(1, "One", "a"), Films.row(2, "Two", "b"))
    let file = "\(Films.folder)/2.json"
    try #require(truncate("\(place.path)/\(file)", off_t(size)) == 0)
    for read in [{ _ = try context.row(Films.key(2)) }, { _ = try context.rows() }] as [() throws -> Void] {
      let error = try #require(throws: PersistenceError.self) { try read() }
      #expect(error.code == .damaged && error.message.contains(file), "\(error)")
    }
    #expect(try context.row(Films.key(1)) == Films.row(1, "One", "a"))
    try context.save(Films.row(3, "Three", "c"))
    var findings: [String] = []
    try context.verify { findings.append("\($0.kind.rawValue) \($0.object)") }
    #expect(findings == ["damaged \(file)"])
    #expect(try context.recordChecksums() == 2)
    try context.save(Films.row(2, "Due", "b"))
    #expect(try context.titles() == ["One", "Due", "Three"])
  }

  @Test("E5 a sparse catalog is damage")
  func catalog() throws {
    let place = try TemporaryStore()
    try place.open().save(Films.row(1, "One"))
    try #require(truncate("\(place.path)/.persistence/catalog.json", 1 << 42) == 0)
    #expect(try #require(throws: PersistenceError.self) { try place.open().titles() }.code == .damaged)
  }

  @Test("E2 a text that no file can hold is refused before it is written")
  func writing() throws {
    try File.requireReadable(size: File.sizeLimit, of: "the text")
    let error = try #require(throws: PersistenceError.self) {
      try File.requireReadable(size: File.sizeLimit + 1, of: "the text")
    }
    #expect(error.code == .valueTooLarge, "\(error)")
  }
}
