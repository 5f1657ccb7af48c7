import Foundation
import PersistenceDriver
import Synchronization
import Testing

@testable import PersistenceJSON

/// Commits that were interrupted after their commit point, while the system refuses to write.
struct RefusedRecoveryTests {
  /// Fails the steps that move files into place, while it is on.
  private final class Refusal: Sendable {
    private let number: Int32
    private let isOn = Atomic(false)
    /// The file that uses the space; nil if nothing frees any.
    private let file: String?

    init(_ number: Int32, while file: String? = nil) { (self.number, self.file) = (number, file) }

    func set(_ isOn: Bool) { self.isOn.store(isOn, ordering: .sequentiallyConsistent) }

    func reach(_ step: String) throws {
      guard isOn.load(ordering: .sequentiallyConsistent), step.hasPrefix("apply"),
        file.map({ FileManager.default.fileExists(atPath: $0) }) ?? true
      else { return }
      errno = number
      throw SystemFailure("move a file to", step)
    }
  }

  /// Commits with a context that is killed when one of its files is in place.
  private func interrupt(_ place: TemporaryStore, _ body: (JSONDirectoryContext) throws -> Void) throws {
    let stopper = StepStopper(named: "apply 1")
    let dying = try place.open { try stopper.reach($0) }
    #expect(throws: StoppedForTest.self) { try body(dying) }
  }

  @Test(
    "W5 R2 reads show the version before an interrupted commit while nothing can be written, and then the commit",
    arguments: [ENOSPC, EDQUOT, EACCES, EROFS])
  func reads(number: Int32) throws {
    let place = try TemporaryStore()
    let refusal = Refusal(number)
    let context = try place.open { try refusal.reach($0) }
    try context.save(Films.row(1, "One"), Films.row(2, "Two"))
    try interrupt(place) { try $0.save(Films.row(1, "Uno"), Films.row(2, "Due")) }
    refusal.set(true)
    #expect(try context.titles() == ["One", "Two"])
    #expect(try context.row(Films.key(1)) == Films.row(1, "One"))
    #expect(try context.row(Films.key(2)) == Films.row(2, "Two"))
    let snapshot = try context.snapshot()
    #expect(try snapshot.titles() == ["One", "Two"])
    let error = try #require(throws: PersistenceError.self) { try context.save(Films.row(3, "Three")) }
    #expect(error.engineError?.code == Int(number), "\(error)")
    #expect(try context.titles() == ["One", "Two"])
    refusal.set(false)
    #expect(try context.titles() == ["Uno", "Due"])
    #expect(try snapshot.titles() == ["One", "Two"])
    try context.save(Films.row(3, "Three"))
    #expect(try context.titles() == ["Uno", "Due", "Three"])
  }

  @Test("E7 a recovery, and the end of a commit, that lack space remove the indexes, and succeed")
  func indexes() throws {
    let place = try TemporaryStore()
    let refusal = Refusal(ENOSPC, while: "\(place.path)/\(Books.index)")
    let context = try place.open { try refusal.reach($0) }
    func change(_ context: JSONDirectoryContext, _ title: String) throws {
      try context.transaction { transaction in
        for id in 0..<3 as Range<Int64> {
          var row = Books.row(id)
          row[1] = .text(title)
          try transaction.save(row, in: Books.schema)
        }
      }
    }
    func titles() throws -> [PersistentValue?] {
      try (0..<3 as Range<Int64>).map { try context.row(Films.key($0), in: Books.schema)?[1] }
    }
    try Books.fill(context, 100)
    _ = try context.ids(ofGenre: "crime")
    try #require(place.names(".persistence/index") == [Books.folder])
    try interrupt(place) { try change($0, "interrupted") }
    refusal.set(true)
    #expect(try titles() == Array(repeating: .text("interrupted"), count: 3))
    #expect(try place.names(".persistence/index").isEmpty)

    refusal.set(false)
    try place.write("no index", to: Books.index)
    refusal.set(true)
    try change(context, "committed")
    #expect(try titles() == Array(repeating: .text("committed"), count: 3))
    #expect(try !place.names(".persistence/index").contains(Books.folder))
  }
}
