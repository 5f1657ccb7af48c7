import Foundation
import PersistenceDriver
import Testing

@testable import PersistenceJSON

/// Reads of one record, which pin no version, beside commits of other contexts.
struct PointReadTests {
  private let place: TemporaryStore
  private let reader: JSONDirectoryContext

  init() throws {
    place = try TemporaryStore()
    reader = try place.open()
    try reader.save(Films.row(1, "One"), Films.row(2, "Two"))
  }

  private static func rows(_ reader: JSONDirectoryContext) throws -> [[PersistentValue]?] {
    try (1...3 as ClosedRange<Int64>).map { try reader.row(Films.key($0)) }
  }

  @Test("R2 C2 point reads at each step of a commit are of the version before it until it is complete")
  func steps() throws {
    let old = [Films.row(1, "One"), Films.row(2, "Two"), nil]
    let new = [Films.row(1, "Uno"), nil, Films.row(3, "Tres")]
    #expect(try Self.rows(reader) == old)
    let (failures, context) = (Failures(), reader)
    let writer = try place.open { step in
      do {
        let rows = try Self.rows(context)
        if rows != (["forget", "prune"].contains(step) ? new : old) { failures.note("\(step): \(rows)") }
      } catch {
        failures.note("\(step): \(error)")
      }
    }
    try writer.transaction { transaction in
      try transaction.save(Films.row(1, "Uno"))
      _ = try transaction.delete(Films.key(2), in: Films.schema)
      try transaction.save(Films.row(3, "Tres"))
    }
    #expect(failures.all == [])
    #expect(try Self.rows(reader) == new)
  }

  @Test("C2 a point read returns the newest record after a commit of any context, also one that was killed")
  func newest() throws {
    let contexts = [reader, try place.open(), try place.open()]
    for round in 0..<30 {
      try contexts[round % 3].save(Films.row(1, "\(round)"))
      for context in contexts { #expect(try context.row(Films.key(1)) == Films.row(1, "\(round)")) }
    }
    try contexts[1].delete(1)
    for context in contexts { #expect(try context.row(Films.key(1)) == nil) }
    for step in ["begin", "apply 0", "publish", "forget"] {
      let stopper = StepStopper(named: step)
      let killed = try place.open { try stopper.reach($0) }
      #expect(throws: StoppedForTest.self) { try killed.save(Films.row(1, step), Films.row(2, step)) }
      // The first reader finishes the commit, unless no file of it has appeared; then the next writer does.
      let expected = try contexts[2].row(Films.key(2))
      for context in contexts { #expect(try context.row(Films.key(2)) == expected, "\(step)") }
      if step != "begin" { #expect(expected == Films.row(2, step)) }
      try contexts[0].save(Films.row(3, step))
      for context in contexts { #expect(try context.row(Films.key(2)) == Films.row(2, step), "\(step)") }
    }
  }

  @Test("C1 C2 R2 point reads beside commits go forward, and miss no record")
  func race() throws {
    let writer = try place.open()
    let (commits, failures, group) = (200, Failures(), DispatchGroup())
    group.enter()
    Thread.detachNewThread {
      defer { group.leave() }
      do {
        for number in 1...commits { try writer.save(Films.row(1, "\(number)"), Films.row(2, "\(number)")) }
      } catch {
        failures.note("the writer: \(error)")
      }
    }
    var last = 0
    while group.wait(timeout: .now()) == .timedOut {
      // Each is read after the one before it, so it is as new or newer.
      for id in [1, 2, 1] as [Int64] {
        guard case .text(let title) = try reader.row(Films.key(id))?[1] else {
          failures.note("no record \(id) after \(last)")
          continue
        }
        let number = Int(title) ?? 0
        if number < last { failures.note("\(number) after \(last)") }
        last = number
      }
    }
    #expect(failures.all == [])
    #expect(try reader.row(Films.key(2)) == Films.row(2, "\(commits)"))
  }
}
