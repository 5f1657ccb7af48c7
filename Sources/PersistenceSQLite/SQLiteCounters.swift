import Synchronization

/// What a context's connections have done, for tests and benchmarks.
package final class SQLiteCounters: Sendable {
  enum Event { case prepared, textBuilt, connectionOpened }

  private let preparations = Atomic<Int>(0)
  private let texts = Atomic<Int>(0)
  private let openings = Atomic<Int>(0)

  func count(_ event: Event) {
    switch event {
    case .prepared: preparations.add(1, ordering: .relaxed)
    case .textBuilt: texts.add(1, ordering: .relaxed)
    case .connectionOpened: openings.add(1, ordering: .relaxed)
    }
  }

  /// How many statements SQLite has prepared.
  package var prepares: Int { preparations.load(ordering: .relaxed) }

  /// How many SQL texts have been built.
  package var textsBuilt: Int { texts.load(ordering: .relaxed) }

  /// How many connections have been opened.
  package var connectionsOpened: Int { openings.load(ordering: .relaxed) }
}
