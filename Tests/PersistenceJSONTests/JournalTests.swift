import Foundation
import PersistenceCore
import PersistenceDriver
import Synchronization
import Testing

@testable import PersistenceJSON

/// The store after a kill between any two steps of a commit, with edits by hand and other writers.
struct JournalTests {
  struct Note: PersistentRecord, Hashable {
    var id: Int64
    var text: String
    var tag: String?

    static let schema = RecordSchema<Note>(
      "Note", fields: [.field("id", \.id), .field("text", \.text), .field("tag", \.tag)], key: [\.id],
      indexes: [RecordIndex([\.tag], isUnique: true)])
    var primaryKey: Int64 { id }

    init(_ id: Int64, _ text: String, tag: String? = nil) {
      self.id = id
      self.text = text
      self.tag = tag
    }

    init(from row: borrowing Row) throws {
      id = try row.decode(at: 0)
      text = try row.decode(at: 1)
      tag = try row.decode(at: 2)
    }

    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(text, at: 1)
      row.encode(tag, at: 2)
    }
  }

  private func withFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("json-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try body(path)
  }

  private func open(_ path: String, _ change: (inout JSONDirectoryConfiguration) -> Void = { _ in }) throws
    -> Repository
  {
    var configuration = JSONDirectoryConfiguration()
    change(&configuration)
    return Repository(try JSONDirectoryContext(path: path, configuration: configuration))
  }

  private func notes(_ repository: Repository) throws -> [Note] {
    Array(try repository.filter(Note.self).result())
  }

  @Test("W5 a kill before any step of a commit leaves the previous version or the new one, complete")
  func kills() throws {
    var steps = 0
    var outcomes: Set<Bool> = []
    while true {
      let wasStopped = try withFolder { path in
        let before = [Note(1, "one"), Note(2, "two"), Note(3, "three")]
        try open(path).save(contentsOf: before)
        let counter = Mutex(0)
        let last = steps
        let dying = try open(path) { configuration in
          configuration.step = { step in
            let isLast = counter.withLock { count in
              defer { count += 1 }
              return count == last
            }
            if isLast { throw StoppedForTest(step: step) }
          }
        }
        let after = [Note(1, "one"), Note(3, "3"), Note(4, "four")]
        var wasStopped = false
        do {
          try dying.transaction { store in
            try store.save(Note(3, "3"))
            try store.delete(Note(2, ""))
            try store.insert(Note(4, "four"))
          }
        } catch is StoppedForTest {
          wasStopped = true
        }
        // A reader that was there before the kill, a reader that comes after it, and the next writer.
        let found = try notes(open(path))
        #expect(found == before || found == after, "step \(steps): \(found)")
        #expect(wasStopped || found == after)
        outcomes.insert(found == after)
        let next = try open(path)
        try next.save(Note(5, "five"))
        #expect(try notes(next) == found + [Note(5, "five")])
        #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/.persistence/journal").isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/.persistence/stage").isEmpty)
        return wasStopped
      }
      guard wasStopped else { break }
      steps += 1
    }
    #expect(steps > 10)
    #expect(outcomes == [true, false])
  }

  @Test("R2 a snapshot sees the previous version while a killed writer's files are partly in place")
  func snapshotAcrossRecovery() throws {
    try withFolder { path in
      let reader = try open(path)
      try reader.save(contentsOf: (0..<300).map { Note($0, "old") })
      let held = try reader.filter(Note.self).result()
      let counter = Mutex(0)
      let dying = try open(path) { configuration in
        configuration.step = { step in
          guard step.hasPrefix("apply") else { return }
          if counter.withLock({
            $0 += 1; return $0
          }) == 150 {
            throw StoppedForTest(step: step)
          }
        }
      }
      #expect(throws: StoppedForTest.self) {
        try dying.save(contentsOf: (0..<400).map { Note($0, "new") })
      }
      #expect(held.count == 300)
      #expect(held.allSatisfy { $0.text == "old" })
      // The next fetch finishes what was committed.
      let fresh = try reader.filter(Note.self).result()
      #expect(fresh.count == 400)
      #expect(fresh.allSatisfy { $0.text == "new" })
      #expect(held.allSatisfy { $0.text == "old" })
    }
  }

  @Test("R2 snapshots hold while files are replaced, added and removed, also by another context")
  func snapshots() throws {
    try withFolder { path in
      let reader = try open(path)
      let writer = try open(path)
      try writer.save(contentsOf: (0..<300).map { Note($0, "0") })
      var held: [(PersistentResults<Note>, [Note])] = []
      for round in 1...5 {
        let result = try reader.filter(Note.self).result()
        held.append((result, try notes(writer)))
        try writer.transaction { store in
          for id in stride(from: Int64(round), to: 300, by: 7) { try store.save(Note(id, "\(round)")) }
          try store.delete(Note(Int64(round * 50), ""))
          try store.insert(Note(Int64(1000 + round), "new"))
        }
      }
      for (result, expected) in held { #expect(Array(result) == expected) }
      let history = path + "/.persistence/history"
      #expect(try !FileManager.default.contentsOfDirectory(atPath: history).isEmpty)
      held.removeAll()
      try writer.save(Note(1, "last"))
      try writer.save(Note(1, "very last"))
      #expect(try FileManager.default.contentsOfDirectory(atPath: history).count <= 1)
    }
  }

  @Test("the next fetch sees edits by hand, and a live result never does")
  func handEdits() throws {
    try withFolder { path in
      let repository = try open(path)
      try repository.save(contentsOf: (0..<300).map { Note($0, "old") })
      let held = try repository.filter(Note.self).result()
      let file = path + "/Note/299.json"
      usleep(20_000)
      let text = try String(contentsOfFile: file, encoding: .utf8).replacing("old", with: "by hand")
      try text.write(toFile: file, atomically: false, encoding: .utf8)
      let error = #expect(throws: PersistenceError.self) { try held.forEach { _ in } }
      #expect(error?.code == .changedOutside)
      #expect(try repository.find(Note.self, id: 299) == Note(299, "by hand"))
      #expect(try repository.filter(Note.self, where: \.text == "by hand").count() == 1)
      try "{ \"id\": 7,\n  \"text\": oops }".write(
        toFile: path + "/Note/7.json", atomically: true, encoding: .utf8)
      let damage = #expect(throws: PersistenceError.self) { try repository.find(Note.self, id: 7) }
      #expect(damage?.code == .damaged)
      #expect(damage.map { "\($0)".contains("Note/7.json") && "\($0)".contains("line 2, column 11") } == true)
      #expect(try repository.find(Note.self, id: 8) == Note(8, "old"))
      #expect(throws: PersistenceError.self) { try repository.filter(Note.self).result().forEach { _ in } }
    }
  }

  @Test("W4 errors name a file whose name does not match its key, and a unique value duplicated by hand")
  func handMadeContradictions() throws {
    try withFolder { path in
      let repository = try open(path)
      try repository.save(contentsOf: [Note(1, "a", tag: "x"), Note(2, "b", tag: "y")])
      let one = try String(contentsOfFile: path + "/Note/1.json", encoding: .utf8)
      try one.replacing("\"x\"", with: "\"y\"").write(
        toFile: path + "/Note/1.json", atomically: true, encoding: .utf8)
      let error = #expect(throws: PersistenceError.self) { try repository.save(Note(3, "c", tag: "y")) }
      #expect(error?.code == .uniqueViolation)
      try repository.save(Note(3, "c", tag: "x"))
      try one.write(toFile: path + "/Note/9.json", atomically: true, encoding: .utf8)
      let misnamed = #expect(throws: PersistenceError.self) { try repository.find(Note.self, id: 9) }
      #expect(misnamed?.code == .damaged)
      #expect(misnamed.map { "\($0)".contains("9.json") } == true)
      try one.write(toFile: path + "/Note/%39.json", atomically: true, encoding: .utf8)
      #expect(throws: PersistenceError.self) { try repository.filter(Note.self).result() }
    }
  }

  @Test("E5 a folder that is not a JSON directory is an error, and stays unchanged")
  func notStores() throws {
    try withFolder { path in
      func code(_ path: String, _ change: (inout JSONDirectoryConfiguration) -> Void = { _ in })
        -> PersistenceError.Code?
      {
        do {
          _ = try open(path, change)
          return nil
        } catch { return (error as? PersistenceError)?.code }
      }
      #expect(code(path + "/missing/store") == .missingStore)
      #expect(code(path) { $0.createsStore = false } == .missingStore)
      #expect(code(path) { $0.isReadOnly = true } == .missingStore)
      #expect(!FileManager.default.fileExists(atPath: path))
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      try "x".write(toFile: path + "/file", atomically: true, encoding: .utf8)
      #expect(code(path) == .notAStore)
      #expect(code(path + "/file") == .notAStore)
      #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["file"])
      let store = path + "/store"
      #expect(code(store) == nil)
      try open(store).save(Note(1, "a"))
      let reader = try open(store) { $0.isReadOnly = true }
      #expect(try notes(reader) == [Note(1, "a")])
      let error = #expect(throws: PersistenceError.self) { try reader.save(Note(2, "b")) }
      #expect(error?.code == .readOnly)
      try "{".write(toFile: store + "/.persistence/catalog.json", atomically: true, encoding: .utf8)
      #expect(throws: PersistenceError.self) { try notes(reader) }
    }
  }
}
