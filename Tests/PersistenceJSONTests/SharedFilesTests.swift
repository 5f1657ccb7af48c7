import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import Synchronization
import TestSupport
import Testing

@testable import PersistenceJSON

/// The lock, the version numbers and the pins of a store, when other programs remove, replace or link them.
struct SharedFilesTests {
  private let place: TemporaryStore

  init() throws { place = try TemporaryStore() }

  /// Copies a store as `cp -al` does: with hard links instead of files.
  private func link(to copy: TemporaryStore) throws {
    try copy.makeFolder()
    // Sorted, folders come before their files.
    for name in try FileManager.default.subpathsOfDirectory(atPath: place.path).sorted() {
      var isFolder: ObjCBool = false
      _ = FileManager.default.fileExists(atPath: "\(place.path)/\(name)", isDirectory: &isFolder)
      if isFolder.boolValue {
        try copy.makeFolder(name)
      } else {
        try #require(Foundation.link("\(place.path)/\(name)", "\(copy.path)/\(name)") == 0)
      }
    }
  }

  @Test(
    "E8 W6 C2 an open context does not write after the lock, the version numbers or the pins were replaced",
    arguments: ["lock", "sequence", "pins"])
  func replaced(name: String) throws {
    let context = try place.open()
    try context.save(Films.row(1, "One"))
    let path = "\(place.path)/.persistence/\(name)"
    // As rsync and tar do.
    try FileManager.default.copyItem(atPath: path, toPath: path + ".copy")
    try #require(rename(path + ".copy", path) == 0)
    #expect(code { try context.save(Films.row(2, "Two")) } == .missingStore)
    let again = try place.open()
    try again.save(Films.row(3, "Three"))
    #expect(code { try context.save(Films.row(4, "Four")) } == .missingStore)
    #expect(try again.titles() == ["One", "Three"])
    #expect(try place.names(".persistence/stage") == [] && place.names(".persistence/journal") == [])
  }

  @Test("W6 E8 a commit whose lock is removed before its commit point is refused, and leaves nothing")
  func removedLock() throws {
    try place.open().save(Films.row(1, "One"))
    let opened = Mutex<JSONDirectoryContext?>(nil)
    let context = try place.open { [place] step in
      guard step == "journal" else { return }
      // A person takes the lock for a stale one. The opening makes another, and finds no journal. The context closes
      // later: the commit holds the lock of the observers, which closing takes.
      try place.remove(".persistence/lock")
      let other = try place.open()
      opened.withLock { $0 = other }
    }
    #expect(code { try context.save(Films.row(2, "Two")) } == .missingStore)
    #expect(code { try context.save(Films.row(3, "Three")) } == .missingStore)
    let again = try place.open()
    try again.save(Films.row(4, "Four"))
    #expect(try again.titles() == ["One", "Four"])
  }

  @Test("E8 W5 a commit whose staged file disappears is outcomeUnknown, and is not published")
  func lostStage() throws {
    try place.open().save(Films.row(1, "One"))
    let context = try place.open { [place] step in
      guard step == "begin" else { return }
      for name in try place.names(".persistence/stage") { try place.remove(".persistence/stage/\(name)") }
    }
    let error = try #require(throws: PersistenceError.self) { try context.save(Films.row(1, "Uno")) }
    #expect(error.code == .outcomeUnknown && error.message.contains(".persistence/stage/2-0"), "\(error)")
    #expect(!error.isRetryable)
    let again = try place.open()
    #expect(try again.titles() == ["One"])
    try again.save(Films.row(1, "Eins"))
    #expect(try again.titles() == ["Eins"])
  }

  @Test("R2 commits to a copy made of hard links do not disturb results of the store")
  func linked() throws {
    let copy = try TemporaryStore()
    try place.open().save(Films.row(1, "One"), Films.row(2, "Two"))
    try link(to: copy)
    let context = try place.open()
    let held = try context.fetch(FetchRequest(Films.schema))
    let other = try copy.open()
    try other.save(Films.row(1, "Uno"))
    #expect(try held.titles() == ["One", "Two"])
    try context.save(Films.row(3, "Three"))
    #expect(try context.titles() == ["One", "Two", "Three"])
    #expect(try other.titles() == ["Uno", "Two"])
    for name in ["lock", "sequence", "pins"] {
      var (mine, others) = (stat(), stat())
      #expect(stat("\(place.path)/.persistence/\(name)", &mine) == 0 && mine.st_nlink == 1, "\(name)")
      #expect(stat("\(copy.path)/.persistence/\(name)", &others) == 0 && others.st_nlink == 1, "\(name)")
      #expect(mine.st_ino != others.st_ino, "\(name)")
    }
  }

  @Test("R2 C2 a store with hard links to its files opens for writing only when no context has them open")
  func linkedWhileOpen() throws {
    let copy = try TemporaryStore()
    let context = try place.open()
    try context.save(Films.row(1, "One"))
    try link(to: copy)
    #expect(code { _ = try copy.open() } == .unsupported)
    #expect(code { _ = try place.open() } == .unsupported)
    #expect(try copy.openForReading().titles() == ["One"])
    try context.save(Films.row(2, "Two"))
    try context.close()
    let reader = try place.openForReading()
    #expect(code { _ = try copy.open() } == .unsupported)
    try reader.close()
    try copy.open().save(Films.row(3, "Three"))
    #expect(try copy.open().titles() == ["One", "Three"])
    #expect(try place.open().titles() == ["One", "Two"])
  }

  @Test("U2 C3 the version that shows other commits is read through a context that is still open")
  func sharedNumbers() throws {
    func open() throws -> StoreFolder {
      try StoreFolder(path: place.path, mayCreate: true, isReadOnly: false) { _ in }
    }
    var first: StoreFolder? = try open()
    let commits = try JSONDirectoryCommits.of(#require(first))
    let second = try open()
    #expect(JSONDirectoryCommits.of(second) === commits)
    #expect(try !commits.counter.check())
    first = nil
    try second.sequence.publish(1, isDurable: false)
    #expect(try commits.counter.check())
  }
}
