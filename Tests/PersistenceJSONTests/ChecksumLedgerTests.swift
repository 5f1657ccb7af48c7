import Foundation
import PersistenceDriver
import Testing

@testable import PersistenceJSON

/// The checksums of a store as a whole: their beginning, their moment and their end.
struct ChecksumLedgerTests {
  private let place: TemporaryStore

  init() throws { place = try TemporaryStore() }

  private func openWithChecksums(step: @escaping @Sendable (String) throws -> Void = { _ in }) throws
    -> JSONDirectoryContext
  {
    var configuration = JSONDirectoryConfiguration(synchronization: .off, checksums: true)
    configuration.step = step
    return try JSONDirectoryContext(path: place.path, configuration: configuration)
  }

  private func file(_ id: Int64) -> String { "\(Films.folder)/\(id).json" }

  private func findings(
    _ context: JSONDirectoryContext, after each: (StoreFinding) throws -> Void = { _ in }
  ) throws -> [String] {
    var findings: [String] = []
    try context.verify { finding in
      findings.append("\(finding.kind.rawValue) \(finding.object)")
      try each(finding)
    }
    return findings
  }

  @Test("W5 an opening that begins checksums leaves all of them or none after a kill at any step")
  func interrupted() throws {
    var number = 0
    var isDone = false
    while !isDone {
      try? place.remove("")
      try place.open().save(Films.row(1, "One", "a"), Films.row(2, "Two", "b"))
      let stopper = StepStopper(at: number)
      do {
        _ = try openWithChecksums { try stopper.reach($0) }
        isDone = true
      } catch is StoppedForTest {}
      #expect(try findings(place.open()) == [], "step \(number)")
      let context = try openWithChecksums()
      #expect(try findings(context) == [], "step \(number)")
      try place.remove(file(2))
      #expect(try findings(context) == ["missing \(file(2))"], "step \(number)")
      number += 1
    }
    #expect(number > 8)
  }

  @Test("an empty store begins with checksums too, and opens again")
  func empty() throws {
    try openWithChecksums().close()
    let context = try place.open()
    #expect(try context.catalog().isEmpty && findings(context) == [])
    try context.save(Films.row(1, "One"))
    try place.remove(file(1))
    #expect(try findings(openWithChecksums()) == ["missing \(file(1))"])
  }

  @Test("an edit by hand is no damage if another context overwrites the file during the verification")
  func overwritten() throws {
    let context = try openWithChecksums()
    try context.save(Films.row(1, "One"), Films.row(2, "Two"), Films.row(3, "Three"))
    for (id, title) in [(1, "One"), (2, "Two"), (3, "Three")] as [(Int64, String)] {
      try place.edit(file(id), title, title + " by hand")
    }
    let other = try place.open()
    let found = try findings(context) { finding in
      guard finding.object == file(1) else { return }
      try other.save(Films.row(2, "Due"))
      try other.delete(3)
    }
    #expect(found == ["edited \(file(1))", "edited \(file(2))", "edited \(file(3))"])
    #expect(try findings(context) == ["edited \(file(1))"])
  }

  @Test("R2 a view of a version from before the checksums has none")
  func moment() throws {
    try place.open().save(Films.row(1, "One"))
    let store = try StoreFolder(path: place.path, mayCreate: false, isReadOnly: false) { _ in }
    let before = try VersionView(store)
    try place.open().recordChecksums()
    #expect(try !ChecksumLedger.isKept(in: before))
    let after = try VersionView(store)
    #expect(try ChecksumLedger.isKept(in: after))
    _ = try JSONDirectoryContext(
      path: place.path, configuration: JSONDirectoryConfiguration(synchronization: .off, checksums: false))
    #expect(try ChecksumLedger.isKept(in: after) && !ChecksumLedger.isKept(in: VersionView(store)))
  }

  @Test("C3 a dropped model leaves no checksums, also of files that are gone, to a later model of its name")
  func dropped() throws {
    let context = try openWithChecksums()
    let other = Films.make("Other")
    try context.save(Films.row(1, "One"), in: other)
    try context.save(Films.row(1, "One"), Films.row(2, "Two"))
    try place.remove(file(2))
    try context.transaction { try $0.drop(Films.schema) }
    let left = try place.names(".persistence/checksums")
    #expect(left.allSatisfy { $0 == "complete" || $0.hasPrefix("Other.") } && left.count == 2, "\(left)")
    try context.save(Films.row(3, "Three"))
    #expect(try findings(context) == [])
  }
}
