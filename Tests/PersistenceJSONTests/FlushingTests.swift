import Foundation
import PersistenceDriver
import Testing

@testable import PersistenceJSON

/// What synchronized commits flush besides their own files (contract W5).
struct FlushingTests {
  private let place: TemporaryStore
  private let recorder = StepRecorder()

  init() throws { place = try TemporaryStore() }

  private func openSynchronized() throws -> JSONDirectoryContext {
    try place.open(.full) { [recorder] in recorder.note($0) }
  }

  /// How often a closure reaches a step.
  private func count(_ step: String = "synchronise file system", _ body: () throws -> Void) throws -> Int {
    let before = recorder.steps.count
    try body()
    return recorder.steps.dropFirst(before).count { $0 == step }
  }

  @Test("W5 a synchronized commit flushes the commits before it that were not, once")
  func commits() throws {
    try place.open().save(Films.row(1, "One"))
    let context = try openSynchronized()
    #expect(try count { try context.save(Films.row(2, "Two")) } == 1)
    #expect(try count { try context.save(Films.row(3, "Three")) } == 0)
    try place.open().save(Films.row(4, "Four"))
    #expect(try count { try context.save(Films.row(5, "Five")) } == 1)
    #expect(try count { try openSynchronized().save(Films.row(6, "Six")) } == 0)
  }

  @Test("W5 a store whose commits were all synchronized never flushes the file system for a small commit")
  func ordinary() throws {
    #expect(
      try count {
        let context = try openSynchronized()
        for id in 0..<3 as Range<Int64> { try context.save(Films.row(id, "x")) }
        try openSynchronized().delete(1)
      } == 0)
  }

  @Test("W5 the version numbers of an earlier release do not tell what is flushed")
  func earlierNumbers() throws {
    try openSynchronized().save(Films.row(1, "One"))
    try #require(truncate("\(place.path)/.persistence/sequence", 16) == 0)
    let context = try openSynchronized()
    #expect(try context.titles() == ["One"])
    #expect(try count { try context.save(Films.row(2, "Two")) } == 1)
    #expect(try count { try context.save(Films.row(3, "Three")) } == 0)
  }

  @Test("W5 a synchronized recovery flushes what a killed writer did not, before it moves files")
  func recovery() throws {
    try place.open().save(Films.row(1, "One"))
    let stopper = StepStopper(named: "begin")
    #expect(throws: StoppedForTest.self) {
      try place.open { try stopper.reach($0) }.save(Films.row(2, "Two"))
    }
    let context = try openSynchronized()
    let flush = try #require(recorder.steps.firstIndex(of: "synchronise file system"))
    let begin = try #require(recorder.steps.firstIndex(of: "begin"))
    #expect(flush < begin)
    #expect(try context.titles() == ["One", "Two"])
    #expect(try count { try context.save(Films.row(3, "Three")) } == 0)
  }

  @Test("W5 what an unsynchronized recovery finished is flushed by the next synchronized commit")
  func unsynchronizedRecovery() throws {
    try openSynchronized().save(Films.row(1, "One"))
    let stopper = StepStopper(named: "apply 0")
    #expect(throws: StoppedForTest.self) {
      try place.open(.full) { try stopper.reach($0) }.save(Films.row(2, "Two"))
    }
    try place.open().close()
    let context = try openSynchronized()
    #expect(try count { try context.save(Films.row(3, "Three")) } == 1)
    #expect(try context.titles() == ["One", "Two", "Three"])
  }

  @Test(
    "W5 the folder of a model that was removed by hand is made durable again, once", arguments: [true, false])
  func folders(isMadeByHand: Bool) throws {
    let context = try openSynchronized()
    try context.save(Films.row(1, "One"))
    #expect(try count("synchronise names") { try context.save(Films.row(2, "Two")) } == 0)
    try place.remove(Films.folder)
    if isMadeByHand { try place.makeFolder(Films.folder) }
    #expect(try count("synchronise names") { try context.save(Films.row(3, "Three")) } == 1)
    #expect(try count("synchronise names") { try context.save(Films.row(4, "Four")) } == 0)
    #expect(try context.titles() == ["Three", "Four"])
  }
}
