import Foundation
import PersistenceDriver
import PersistenceJSON
import Testing

/// Results read some files ahead of the rows, and look for later commits once for all of them.
struct ReadAheadTests {
  private struct Stop: Error {}

  private let place: TemporaryStore
  private let reader: JSONDirectoryContext
  private let writer: JSONDirectoryContext
  /// More than two readings ahead.
  private static let count: Int64 = 150

  init() throws {
    place = try TemporaryStore()
    (reader, writer) = (try place.open(), try place.open())
  }

  private func fill(_ count: Int64 = Self.count, _ title: String = "old") throws {
    try writer.transaction { transaction in
      try transaction.define(Films.schema)
      for id in 0..<count { try transaction.save(Films.row(id, title)) }
    }
  }

  /// The titles of the rows before an error, and the error.
  private func titles(of results: any StorageResults) -> (before: [String], error: PersistenceError?) {
    var titles: [String] = []
    do {
      _ = try results.read(from: 0, limit: .max) { row in
        if case .text(let title) = try row.value(at: 1) { titles.append(title) }
      }
      return (titles, nil)
    } catch {
      return (titles, error as? PersistenceError)
    }
  }

  @Test("R2 a result shows each record of its version, whether it was changed, deleted or added since")
  func history() throws {
    try fill()
    let (results, snapshot) = (try reader.fetch(FetchRequest(Films.schema)), try reader.snapshot())
    let before = try snapshot.rows()
    #expect(before.count == Int(Self.count))
    for round in 0..<2 {
      try writer.transaction { transaction in
        for id in 0..<Self.count where id % 3 == 0 {
          try transaction.save(Films.row(id, "changed in round \(round)"))
        }
        for id in 0..<Self.count where id % 5 == 1 {
          _ = try transaction.delete(Films.key(id), in: Films.schema)
        }
        try transaction.save(Films.row(Self.count + Int64(round), "added"))
      }
      #expect(try results.rows() == before)
      #expect(try snapshot.rows() == before)
    }
    let ids = (0..<Self.count + 2).filter { $0 % 5 != 1 || $0 >= Self.count }
    #expect(try reader.ids(FetchRequest(Films.schema)) == ids)
  }

  @Test("R2 a result that another context reads at each step of a commit shows its version")
  func steps() throws {
    try fill()
    let results = try reader.fetch(FetchRequest(Films.schema))
    let (expected, failures) = (try results.rows(), Failures())
    let context = try place.open { step in
      do {
        if try results.rows() != expected { failures.note("\(step): rows of another version") }
      } catch {
        failures.note("\(step): \(error)")
      }
    }
    try context.transaction { transaction in
      for id in 60..<70 as Range<Int64> { try transaction.save(Films.row(id, "new")) }
      _ = try transaction.delete(Films.key(3), in: Films.schema)
    }
    #expect(failures.all == [])
    #expect(try results.rows() == expected)
    #expect(try reader.titles().count { $0 == "new" } == 10)
  }

  @Test("R2 C2 results that are read while another context commits show one version")
  func race() throws {
    try fill()
    let (rounds, failures, group) = (20, Failures(), DispatchGroup())
    group.enter()
    Thread.detachNewThread { [self] in
      defer { group.leave() }
      do {
        for round in 0..<rounds { try fill(Self.count, "\(round)") }
      } catch {
        failures.note("the writer: \(error)")
      }
    }
    // Of each result, the first reading begins at once, and the second is of files that were replaced since.
    while group.wait(timeout: .now()) == .timedOut {
      let results = try reader.fetch(FetchRequest(Films.schema))
      let titles = try results.titles()
      if Set(titles).count != 1 || titles.count != Int(Self.count) { failures.note("\(titles)") }
      if try results.titles() != titles { failures.note("a second reading differs from \(titles)") }
    }
    #expect(failures.all == [])
    #expect(try Set(reader.titles()) == ["\(rounds - 1)"])
  }

  @Test("R4 the rows before a damaged, a removed and an unreadable file come before its error")
  func errors() throws {
    try fill(6)
    let results = try reader.fetch(FetchRequest(Films.schema))
    try place.remove("\(Films.folder)/4.json")
    let (before, error) = titles(of: results)
    #expect(before.count == 4 && error?.code == .changedOutside, "\(String(describing: error))")
    #expect(error?.key == Films.key(4) && error?.message.contains("\(Films.folder)/4.json") == true)
    #expect(try results.read(from: 5, limit: 1) { _ in } == 1)

    try place.makeFolder("\(Films.folder)/4.json")
    try place.write("{ broken", to: "\(Films.folder)/2.json")
    let damaged = try reader.fetch(FetchRequest(Films.schema))
    let first = titles(of: damaged)
    #expect(first.before.count == 2 && first.error?.code == .damaged && first.error?.key == Films.key(2))
    var rest = 0
    let second = #expect(throws: PersistenceError.self) {
      _ = try damaged.read(from: 3, limit: .max) { _ in rest += 1 }
    }
    #expect(rest == 1 && second?.key == Films.key(4), "\(String(describing: second))")
    #expect(try damaged.read(from: 5, limit: 1) { _ in } == 1)
  }

  @Test("R1 a reading that ends early has read few files ahead, and fewer if they are large")
  func amount() throws {
    try fill()
    let small = try reader.fetch(FetchRequest(Films.schema))
    #expect(try openings(of: small) <= 64)
    #expect(try reader.openings { _ = try small.read(from: 10, limit: 3) { _ in } } == 3)
    try fill(20, String(repeating: "a large text ", count: 10_000))
    let large = try reader.fetch(FetchRequest(Films.schema))
    #expect(try openings(of: large) == 3)
    #expect(try large.titles().prefix(20).allSatisfy { $0.utf8.count == 130_000 })
  }

  /// The number of files that are opened for the first row.
  private func openings(of results: any StorageResults) throws -> Int {
    try reader.openings {
      do {
        _ = try results.read(from: 0, limit: .max) { _ in throw Stop() }
      } catch is Stop {}
    }
  }

  @Test("W3 a transaction reads each record when its turn comes, with the changes made until then")
  func transaction() throws {
    try fill(3)
    try writer.transaction { transaction in
      let results = try transaction.fetch(FetchRequest(Films.schema))
      var titles: [PersistentValue] = []
      _ = try results.read(from: 0, limit: .max) { row in
        titles.append(try row.value(at: 1))
        if titles.count == 1 { try transaction.save(Films.row(2, "new")) }
      }
      #expect(titles == [.text("old"), .text("old"), .text("new")])
    }
  }
}
