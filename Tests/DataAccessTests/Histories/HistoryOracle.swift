import DataAccess
import Foundation
import PersistenceCore

/// The states of the remote objects over time, from which it follows what a layer may claim.
///
/// A layer may return a state as complete, with an age, only if the remote layer held it at or after that date, and
/// not only before the last own write that it acknowledged; or if it is an own write that still waits.
struct HistoryOracle {
  private struct Version {
    var note: Note?
    var start: Date
    var end = Date.distantFuture
  }

  private var versions: [Int: [Version]] = [:]
  private var acknowledged: [Int: Date] = [:]

  static let keys = 0..<5

  /// Records the remote objects at a date.
  mutating func record(_ notes: [Note], at date: Date) {
    for key in Self.keys {
      let note = notes.first { $0.id == key }
      let last = versions[key]?.last
      if let last, last.note == note { continue }
      if let count = versions[key]?.count { versions[key]?[count - 1].end = date }
      versions[key, default: []].append(Version(note: note, start: date))
    }
  }

  /// Records that the caller of a write knows that the remote layer made it at a date.
  mutating func acknowledge(_ key: Int, at date: Date) {
    acknowledged[key] = max(acknowledged[key] ?? .distantPast, date)
  }

  /// The reasons why an answer is wrong.
  ///
  /// - Parameters:
  ///   - notes: The objects of a complete answer.
  ///   - keys: The keys that the answer decides.
  ///   - matches: The condition of the query.
  ///   - date: The date from which the answer claims to be valid; nil if it claims none.
  ///   - waiting: The state of the objects with waiting writes.
  /// - Returns: A sentence for each wrong key.
  func mistakes(
    _ notes: [Note], deciding keys: some Sequence<Int>, where matches: (Note) -> Bool, asOf date: Date?,
    waiting: [Int: Note?]
  ) -> [String] {
    keys.compactMap { key in
      let found = notes.first { $0.id == key }
      if let own = waiting[key] {
        return own.flatMap { matches($0) ? $0 : nil } == found
          ? nil : "\(key) is \(String(describing: found)), but \(String(describing: own)) waits"
      }
      let limit = max(date ?? .distantPast, acknowledged[key] ?? .distantPast)
      let held = (versions[key] ?? []).filter { $0.end > limit }.map { version in
        version.note.flatMap { matches($0) ? $0 : nil }
      }
      return held.contains(found)
        ? nil : "\(key) is \(String(describing: found)) as of \(limit), when the remote layer held \(held)"
    }
  }
}
