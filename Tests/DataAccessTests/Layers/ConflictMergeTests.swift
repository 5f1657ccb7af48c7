import DataAccess
import DataAccessTesting
import Foundation
import PersistenceCore
import Synchronization
import Testing

/// Conflicts of entries that change an object more than once.
@Suite("Merges of several changes of one object")
struct ConflictMergeTests {
  /// What a merge was asked.
  private static func question(_ conflict: WriteConflict<Note>) -> String {
    let change =
      switch conflict.change {
      case .insert(let note): "insert \(note.text)"
      case .update(let note, let old): "update \(old?.text ?? "-") to \(note.text)"
      case .save(let note): "save \(note.text)"
      case .delete(let note): "delete \(note.text)"
      }
    return "\(conflict.change.object.id): \(change), there \(conflict.remote?.text ?? "-")"
  }

  private static let changes: [ObjectChange<Note>] = [
    .update(Note(1, "a"), replacing: Note(1, "base")), .insert(Note(2, "a")), .insert(Note(3, "a")),
    .update(Note(1, "b"), replacing: Note(1, "a")), .update(Note(2, "b"), replacing: Note(2, "a")),
    .update(Note(3, "b"), replacing: Note(3, "a")), .update(Note(1, "c"), replacing: Note(1, "b")),
  ]

  @Test(
    "A3 a merge is asked once for each object, with the first condition and the last state",
    arguments: ["merge", "delete", "keep"])
  func twice(resolution: String) async throws {
    let questions = Questions()
    let bed = try OutboxTests.TestBed([Note(1, "base")]) { options in
      options.conflicts = .merge { conflict in
        questions.add(Self.question(conflict))
        let object = conflict.change.object
        switch resolution {
        case "merge": return .save(Note(object.id, "\(conflict.remote?.text ?? "-")+\(object.text)"))
        case "delete": return .delete
        default: return .keepRemote
        }
      }
    }
    _ = try await bed.source.execute(everyNote)
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    try await bed.source.apply(ChangeBatch(Self.changes))
    await bed.senderWaits()
    bed.remote.answerOtherwise(.genuine)
    try await bed.remote.save(Note(1, "theirs"))
    try await bed.remote.insert(Note(2, "theirs"))
    try await bed.outbox.send()
    #expect(questions.all == ["1: update base to c, there theirs", "2: insert b, there theirs"])
    let (first, second): (Note?, Note?) =
      switch resolution {
      case "merge": (Note(1, "theirs+c"), Note(2, "theirs+b"))
      case "delete": (nil, nil)
      default: (Note(1, "theirs"), Note(2, "theirs"))
      }
    let wanted = [first, second, Note(3, "b")].compactMap(\.self)
    #expect(try await bed.remote.execute(everyNote) == wanted)
    #expect(Array(try bed.repository.fetch(Note.self)) == wanted)
    #expect(try await bed.outbox.setAside().isEmpty)
    #expect(try await bed.outbox.count() == 0)
  }

  /// The questions in their order.
  private final class Questions: Sendable {
    private let state = Mutex<[String]>([])
    var all: [String] { state.withLock(\.self) }
    func add(_ question: String) { state.withLock { $0.append(question) } }
  }
}
