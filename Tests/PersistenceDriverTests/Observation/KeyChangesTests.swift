import PersistenceDriver
import Testing
import PersistenceDriverSupport

@Suite("KeyChanges")
struct KeyChangesTests {
  private func key(_ id: Int64) -> RecordKey { RecordKey([.integer(id)]) }

  @Test("several changes of one key coalesce, from before the first to after the last")
  func merging() {
    var changes = KeyChanges(limit: 10)
    changes.record(key(1), matchedBefore: false, matchesNow: true)
    changes.record(key(1), matchedBefore: true, matchesNow: true)
    #expect(changes.entries == [key(1): .init(matchedBefore: false, matchesNow: true)])
    changes.record(key(1), matchedBefore: true, matchesNow: false)
    #expect(changes.isEmpty)
    changes.record(key(2), matchedBefore: true, matchesNow: false)
    changes.record(key(2), matchedBefore: false, matchesNow: true)
    #expect(changes.entries == [key(2): .init(matchedBefore: true, matchesNow: true)])
    changes.record(key(3), matchedBefore: false, matchesNow: false)
    #expect(changes.entries.count == 1)
  }

  @Test("changes of a later commit coalesce like later changes")
  func commits() {
    var (first, second) = (KeyChanges(limit: 10), KeyChanges(limit: 10))
    first.record(key(1), matchedBefore: false, matchesNow: true)
    first.record(key(2), matchedBefore: true, matchesNow: true)
    second.record(key(1), matchedBefore: true, matchesNow: false)
    second.record(key(2), matchedBefore: true, matchesNow: false)
    first.merge(second)
    #expect(first.entries == [key(2): .init(matchedBefore: true, matchesNow: false)])
  }

  @Test("a record that was inserted and deleted is kept for those who may have seen it")
  func undone() {
    var changes = KeyChanges(limit: 10, keepsUndone: true)
    changes.record(key(1), matchedBefore: false, matchesNow: true)
    var later = KeyChanges(limit: 10)
    later.record(key(1), matchedBefore: true, matchesNow: false)
    // Nobody saw a record that one commit inserted and deleted.
    later.record(key(2), matchedBefore: false, matchesNow: true)
    later.record(key(2), matchedBefore: true, matchesNow: false)
    changes.merge(later)
    #expect(changes.entries == [key(1): .init(matchedBefore: false, matchesNow: false)])
    changes.record(key(1), matchedBefore: false, matchesNow: true)
    #expect(changes.entries == [key(1): .init(matchedBefore: false, matchesNow: true)])
  }

  @Test("a million changes never exceed the key limit, and become unknown")
  func bounded() {
    var changes = KeyChanges(limit: 1000)
    for id in 0..<1_000_000 {
      changes.record(key(Int64(id)), matchedBefore: false, matchesNow: true)
      if changes.entries.count > 1000 {
        Issue.record("\(changes.entries.count) keys")
        break
      }
    }
    #expect(changes.isUnknown)
    #expect(changes.entries.isEmpty)
    var other = KeyChanges(limit: 10)
    other.record(key(1), matchedBefore: false, matchesNow: true)
    other.merge(changes)
    #expect(other.isUnknown)
  }

  @Test("restoring entries, the last one first, reverts the changes")
  func undoing() {
    var changes = KeyChanges(limit: 10)
    changes.record(key(1), matchedBefore: true, matchesNow: true)
    let known = changes.record(key(1), matchedBefore: true, matchesNow: false)
    let unknown = changes.record(key(2), matchedBefore: false, matchesNow: true)
    changes.restore(unknown, for: key(2))
    changes.restore(known, for: key(1))
    #expect(changes.entries == [key(1): .init(matchedBefore: true, matchesNow: true)])
  }
}
