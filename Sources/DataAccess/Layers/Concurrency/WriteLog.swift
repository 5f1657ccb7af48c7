import PersistenceCore
import Synchronization

/// Records the keys that change while reads are in flight, so that an older read does not overwrite a newer
/// state.
///
/// Reads of the top layer are ordered by their start, since answers can arrive out of order. A read of a
/// replica shows the changes that the replica had recorded when the read started.
final class WriteLog: Sendable {
  /// A read in flight.
  struct Reading: Sendable {
    fileprivate let moment: Int
    fileprivate let isOfTop: Bool
  }

  /// The moments of the last change of a key.
  private struct Change {
    /// The moment that the new state is valid from.
    var started = 0
    /// The moment that the replicas recorded it.
    var recorded = 0

    func isNewer(than reading: Reading) -> Bool {
      (reading.isOfTop ? started : recorded) > reading.moment
    }
  }

  private struct State {
    var moment = 0
    /// The start moments of the reads in flight, in order.
    var readings: [Int] = []
    var inFlight: [RecordKey: Int] = [:]
    var keys: [RecordKey: Change] = [:]
    /// The keys in order of recording.
    ///
    /// Entries before `forgotten` are obsolete.
    var order: [(key: RecordKey, recorded: Int)] = []
    var forgotten = 0
    /// The newest recorded answer to a query.
    var lastQuery = Change()

    mutating func tick() -> Int {
      moment += 1
      return moment
    }

    mutating func record(_ key: RecordKey, started: Int, recorded: Int) {
      guard !readings.isEmpty else { return }
      keys[key] = Change(started: max(keys[key]?.started ?? 0, started), recorded: recorded)
      order.append((key, recorded))
    }

    /// Removes the entries that are older than every read in flight.
    mutating func forget() {
      guard let oldest = readings.first else {
        (keys, order, forgotten) = ([:], [], 0)
        return
      }
      while forgotten < order.count, order[forgotten].recorded <= oldest {
        let (key, recorded) = order[forgotten]
        if keys[key]?.recorded == recorded { keys[key] = nil }
        forgotten += 1
      }
      if forgotten > 256, forgotten > order.count / 2 {
        order.removeFirst(forgotten)
        forgotten = 0
      }
    }
  }

  private let state = Mutex(State())

  var count: Int { state.withLock(\.keys.count) }

  /// Marks the start of a write.
  func begin(_ keys: [RecordKey]) {
    state.withLock { state in for key in keys { state.inFlight[key, default: 0] += 1 } }
  }

  /// Marks the end of a write.
  func end(_ keys: [RecordKey]) {
    state.withLock { state in
      let moment = state.tick()
      for key in keys {
        let count = (state.inFlight[key] ?? 1) - 1
        state.inFlight[key] = count > 0 ? count : nil
        state.record(key, started: moment, recorded: moment)
      }
    }
  }

  /// Starts a read of the top layer or of a replica.
  func beginReading(isOfTop: Bool) -> Reading {
    state.withLock { state in
      let moment = state.tick()
      state.readings.append(moment)
      return Reading(moment: moment, isOfTop: isOfTop)
    }
  }

  /// Ends a read whose answer has been recorded.
  func end(_ reading: Reading) {
    state.withLock { state in
      if let index = state.readings.firstIndex(of: reading.moment) { state.readings.remove(at: index) }
      state.forget()
    }
  }

  /// Marks that the replicas are about to record an answer of the top layer, for a key or for a query.
  func record(_ reading: Reading, of key: RecordKey?) {
    state.withLock { state in
      let moment = state.tick()
      if let key {
        state.record(key, started: reading.moment, recorded: moment)
      } else {
        state.lastQuery = Change(started: max(state.lastQuery.started, reading.moment), recorded: moment)
      }
    }
  }

  /// Whether a newer answer to a query has been recorded.
  ///
  /// An outdated answer could restore deleted objects or delete new ones.
  func isOutdated(_ reading: Reading) -> Bool { state.withLock { $0.lastQuery.isNewer(than: reading) } }

  /// Whether a key was written or looked up after a read started, or has a write in flight.
  func isNewer(_ key: RecordKey, than reading: Reading) -> Bool {
    state.withLock { state in
      state.inFlight[key] != nil || state.keys[key]?.isNewer(than: reading) == true
    }
  }
}
