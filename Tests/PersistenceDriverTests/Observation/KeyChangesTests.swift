import PersistenceDriver
import Testing
import PersistenceDriverSupport

@Suite("KeyChanges")
struct KeyChangesTests {
  private func key(_ id: Int64) -> RecordKey { RecordKey([.integer(id)]) }

  @Test("several changes of one key coalesce, from before the first to after the last")
  func merging() {
    var changes = KeyChanges(limit: 10)
    changes.note(key(1), fitted: false, fits: true)
    changes.note(key(1), fitted: true, fits: true)
    #expect(changes.entries == [key(1): .init(fittedBefore: false, fitsNow: true)])
    changes.note(key(1), fitted: true, fits: false)
    #expect(changes.isEmpty)
    changes.note(key(2), fitted: true, fits: false)
    changes.note(key(2), fitted: false, fits: true)
    #expect(changes.entries == [key(2): .init(fittedBefore: true, fitsNow: true)])
    changes.note(key(3), fitted: false, fits: false)
    #expect(changes.entries.count == 1)
  }

  @Test("changes of a later commit coalesce like later changes")
  func commits() {
    var (first, second) = (KeyChanges(limit: 10), KeyChanges(limit: 10))
    first.note(key(1), fitted: false, fits: true)
    first.note(key(2), fitted: true, fits: true)
    second.note(key(1), fitted: true, fits: false)
    second.note(key(2), fitted: true, fits: false)
    first.merge(second)
    #expect(first.entries == [key(2): .init(fittedBefore: true, fitsNow: false)])
  }

  @Test("a million changes never exceed the key limit, and become unknown")
  func bounded() {
    var changes = KeyChanges(limit: 1000)
    for id in 0..<1_000_000 {
      changes.note(key(Int64(id)), fitted: false, fits: true)
      if changes.entries.count > 1000 {
        Issue.record("\(changes.entries.count) keys")
        break
      }
    }
    #expect(changes.isUnknown)
    #expect(changes.entries.isEmpty)
    var other = KeyChanges(limit: 10)
    other.note(key(1), fitted: false, fits: true)
    other.merge(changes)
    #expect(other.isUnknown)
  }

  @Test("restoring entries, the last one first, reverts the changes")
  func undoing() {
    var changes = KeyChanges(limit: 10)
    changes.note(key(1), fitted: true, fits: true)
    let known = changes.note(key(1), fitted: true, fits: false)
    let unknown = changes.note(key(2), fitted: false, fits: true)
    changes.restore(unknown, for: key(2))
    changes.restore(known, for: key(1))
    #expect(changes.entries == [key(1): .init(fittedBefore: true, fitsNow: true)])
  }
}
