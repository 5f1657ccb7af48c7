import DataAccess
import DataAccessTesting
import Foundation
import PersistenceCore
import Synchronization

extension LayerHistory {
  mutating func check() async throws {
    steps.append("check")
    let mode = remote.mode
    remote.mode = .offline
    defer { remote.mode = mode }
    for source in sources {
      var waiting: [Int: Note?] = [:]
      for change in try await source.outbox?.waiting().flatMap({ $0.changes ?? [] }) ?? [] {
        if case .delete(let note) = change {
          waiting[note.id] = .some(nil)
        } else {
          waiting[change.object.id] = change.object
        }
      }
      for kind in 1..<5 {
        guard let answer = try? await source.answer(to: Self.query(source, kind)), answer.isComplete else {
          continue
        }
        let last = kind == 4 && answer.value.count == 2 ? answer.value.last?.id ?? 0 : 4
        judge("query \(kind)", answer, answer.value, deciding: 0...last, waiting) {
          kind == 1 || kind == 4 || $0.rank == kind - 2
        }
      }
      for key in 0..<4 {
        guard let answer = try? await source.answer(for: key), answer.isComplete else { continue }
        judge("key \(key)", answer, answer.value.map { [$0] } ?? [], deciding: key...key, waiting) { _ in true
        }
      }
    }
  }

  private mutating func judge<Value>(
    _ name: String, _ answer: LayeredAnswer<Value>, _ notes: [Note], deciding keys: ClosedRange<Int>,
    _ waiting: [Int: Note?], where matches: (Note) -> Bool
  ) {
    claims += 1
    let date = answer.age.map { self.date.addingTimeInterval(-($0 / .seconds(1))) }
    mistakes += oracle.mistakes(notes, deciding: keys, where: matches, asOf: date, waiting: waiting)
      .map { "\(name) of the \(answer.source.rawValue) layer: \($0)" }
  }
}

/// Cancels the task that reads the date next.
final class CancelsOnce: Sendable {
  private let isAsked = Mutex(false)

  func ask() { isAsked.withLock { $0 = true } }

  func cancelIfAsked() {
    let isAsked = isAsked.withLock { isAsked in
      defer { isAsked = false }
      return isAsked
    }
    if isAsked { withUnsafeCurrentTask { $0?.cancel() } }
  }
}
