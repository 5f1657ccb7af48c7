import Foundation
import PersistenceDriver
import Testing

@testable import PersistenceJSON

/// Concurrent reads and edits by hand in the middle of a commit.
struct CommitRaceTests {
  @Test(
    "R2 what an index knew and a commit replaces while it is sorted is of its version, not changed by hand")
  func sorting() throws {
    let place = try TemporaryStore()
    let (reader, writer) = (try place.open(), try place.open())
    let count: Int64 = 400
    try Books.fill(writer, count)
    // The price has an index, so that files are known, and the title none, so that each is read.
    let query = try FetchRequest(
      Books.schema, where: .comparison(field: "price", .greaterOrEqual, .double(0)),
      order: [FieldOrder("title")])
    for round in 0..<20 {
      Books.settle()
      _ = try reader.ids(query)
      let group = DispatchGroup()
      group.enter()
      Thread.detachNewThread {
        defer { group.leave() }
        do {
          try writer.transaction { transaction in
            for id in 0..<count {
              var row = Books.row(id)
              row[1] = .text("Title \(id) of \(round)")
              try transaction.save(row, in: Books.schema)
            }
          }
        } catch {
          Issue.record(error)
        }
      }
      // From before the commit to after it.
      while group.wait(timeout: .now()) == .timedOut { #expect(try reader.ids(query).count == count) }
    }
  }

  @Test(
    "W5 a file created by hand in place of a deleted one survives recovery from a killed writer"
  )
  func madeAnew() throws {
    for step in ["forget", "prune"] {
      let place = try TemporaryStore()
      try place.open().save(Films.row(1, "One"), Films.row(2, "Two"))
      let stopper = StepStopper(named: step)
      let context = try place.open { try stopper.reach($0) }
      #expect(throws: StoppedForTest.self) { try context.delete(2) }
      try place.write("{\"title\": \"Due\", \"id\": 2}", to: "\(Films.folder)/2.json")
      let again = try place.open()
      #expect(try again.titles() == ["One", "Due"])
      try again.save(Films.row(3, "Three"))
      #expect(try again.titles() == ["One", "Due", "Three"])
      #expect(try place.names(".persistence/journal") == [])
    }
  }

  @Test("E5 a file with the greatest possible time is not in the past, and causes no error")
  func endOfTime() throws {
    let last = FileTime(seconds: .max, nanoseconds: 999_999_999)
    #expect(!last.isPast(at: .now))
    #expect(!FileTime(seconds: .max, nanoseconds: 0).isPast(at: last))
    #expect(FileTime(seconds: .min, nanoseconds: 0).isPast(at: .now))
  }
}
