import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import Testing

@testable import PersistenceJSON

/// Checksums tell an edit by hand from damage (issue 16, C.3).
struct ChecksumTests {
  private let place: TemporaryStore
  private let context: JSONDirectoryContext

  init() throws {
    place = try TemporaryStore()
    context = try JSONDirectoryContext(
      path: place.path, configuration: JSONDirectoryConfiguration(synchronization: .off, checksums: true))
    try context.save(Films.row(1, "One", "a"), Films.row(2, "Two", "b"), Films.row(3, "Three"))
  }

  private func file(_ id: Int64) -> String { "\(Films.folder)/\(id).json" }

  private func findings(_ context: JSONDirectoryContext? = nil) throws -> [String] {
    var findings: [String] = []
    try (context ?? self.context).verify { findings.append("\($0.kind.rawValue) \($0.object)") }
    return findings
  }

  /// Changes the content as a medium does: size and time stay.
  private func flip(_ name: String, _ old: String, _ new: String) throws {
    var status = stat()
    try #require(stat("\(place.path)/\(name)", &status) == 0 && old.utf8.count == new.utf8.count)
    try place.edit(name, old, new, inPlace: true)
    #if canImport(Darwin)
      let times = [status.st_atimespec, status.st_mtimespec]
    #else
      let times = [status.st_atim, status.st_mtim]
    #endif
    try #require(utimensat(AT_FDCWD, "\(place.path)/\(name)", times, 0) == 0)
  }

  @Test("a store that wrote everything itself has no findings, whichever context writes")
  func intact() throws {
    #expect(try findings() == [])
    let other = try place.open()
    try other.save(Films.row(1, "Uno", "b2"), Films.row(4, "Four"))
    try other.delete(2)
    #expect(try findings() == [] && findings(other) == [] && findings(place.openForReading()) == [])
    try other.transaction { transaction in
      for id in 10..<700 as Range<Int64> { try transaction.save(Films.row(id, "\(id)")) }
    }
    #expect(try findings() == [])
    try other.transaction { try $0.drop(Films.schema) }
    #expect(try findings() == [] && place.names(".persistence/checksums") == ["complete"])
  }

  @Test("a flipped text of the same size and time is damage; an edit, an addition and a deletion are not")
  func kinds() throws {
    try flip(file(1), "One", "Oni")
    #expect(try findings() == ["damaged \(file(1))"])
    #expect(try context.titles() == ["Oni", "Two", "Three"])
    try place.edit(file(2), "Two", "Zwei")
    try place.remove(file(3))
    try place.write("{\"id\": 4, \"title\": \"Four\"}", to: file(4))
    try place.write("{\"id\": 5,", to: file(5))
    #expect(
      try findings() == [
        "damaged \(file(1))", "edited \(file(2))", "unrecorded \(file(4))", "damaged \(file(5))",
        "missing \(file(3))",
      ])
    var details: [String] = []
    try context.verify { details.append($0.detail) }
    #expect(details[3].contains("line 1, column") && details[3].contains("by hand"), "\(details)")
    // Writing a record again settles it.
    for id in 1...5 as ClosedRange<Int64> { try context.save(Films.row(id, "\(id)")) }
    #expect(try findings() == [])
  }

  @Test("accepting records the files as they are, but no file that cannot be read")
  func accepting() throws {
    try place.edit(file(2), "Two", "Zwei", inPlace: true)
    try place.remove(file(3))
    try place.write("{\"id\": 4, \"title\": \"Four\"}", to: file(4))
    try place.write("{", to: file(5))
    #expect(try context.recordChecksums() == 3)
    #expect(try findings() == ["damaged \(file(5))"])
    try place.remove(file(5))
    #expect(try findings() == [])
    try flip(file(4), "Four", "Foul")
    #expect(try findings() == ["damaged \(file(4))"])
  }

  @Test("an existing store begins with its files as they are, and checksums=false ends it")
  func turning() throws {
    let place = try TemporaryStore()
    try place.open().save(Films.row(1, "One"), Films.row(2, "Two"))
    func open(_ query: String) throws -> JSONDirectoryContext {
      let url = "json:\(place.path)?synchronous=off\(query)"
      return try #require(
        try StorageEngine.open(url, engines: [.json], monitoring: Monitoring()) as? JSONDirectoryContext)
    }
    #expect(try findings(open("")) == [])
    #expect(try !place.names(".persistence").contains("checksums"))
    let context = try open("&checksums=true")
    #expect(try findings(context) == [])
    try place.remove("\(Films.folder)/2.json")
    #expect(try findings(open("")) == ["missing \(Films.folder)/2.json"])
    #expect(try findings(open("&checksums=false")) == [])
    #expect(try !place.names(".persistence").contains("checksums"))
    try context.save(Films.row(3, "Three"))
    #expect(try findings(context) == [])
  }

  @Test("a damaged file of checksums is a finding, and writing goes on")
  func damagedLedger() throws {
    let names = try place.names(".persistence/checksums").filter { $0.hasSuffix(".json") }
    for name in names { try place.write("{", to: ".persistence/checksums/\(name)") }
    let kinds = try findings().map { $0.split(separator: " ")[0] }
    #expect(kinds.filter { $0 == "damaged" }.count == names.count)
    #expect(kinds.filter { $0 == "unrecorded" }.count == 3)
    for id in 1...3 as ClosedRange<Int64> { try context.save(Films.row(id, "\(id)")) }
    #expect(try findings() == [])
  }

  @Test("W5 after a kill at any step, checksums and records are of one version")
  func kills() throws {
    var number = 0
    var isDone = false
    while !isDone {
      let place = try TemporaryStore()
      let first = try JSONDirectoryContext(
        path: place.path, configuration: JSONDirectoryConfiguration(synchronization: .off, checksums: true))
      try first.save(Films.row(1, "One", "a"), Films.row(2, "Two", "b"))
      let stopper = StepStopper(at: number)
      let context = try place.open { try stopper.reach($0) }
      do {
        try context.transaction { transaction in
          try transaction.save(Films.row(1, "Uno", "c"))
          _ = try transaction.delete(Films.key(2), in: Films.schema)
          try transaction.save(Films.row(3, "Three", "d"))
        }
        isDone = true
      } catch is StoppedForTest {}
      #expect(try findings(place.open()) == [], "step \(number)")
      number += 1
    }
    #expect(number > 8)
  }
}
