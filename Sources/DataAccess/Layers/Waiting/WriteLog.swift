import PersistenceCore
import Synchronization

/// What was written, or learnt from the store that decides, while readings are under way: a reading that began before
/// does not undo it.
///
/// Readings of the store that decides are ordered by when they were asked: an answer may arrive after a younger one.
/// Those of a layer below show what had been written down there when they began.
final class WriteLog: Sendable {
  /// A reading that is under way, from its beginning on.
  struct Reading: Sendable {
    fileprivate let moment: Int
    fileprivate let isOfTop: Bool
  }

  /// Since when something is known.
  private struct Known {
    /// The moment of which it is true.
    var asked = 0
    /// The moment in which it was written down.
    var noted = 0

    func isNewer(than reading: Reading) -> Bool {
      (reading.isOfTop ? asked : noted) > reading.moment
    }
  }

  private struct State {
    var moment = 0
    /// The moments of the readings that are under way, in their order.
    var readings: [Int] = []
    var underWay: [RecordKey: Int] = [:]
    var keys: [RecordKey: Known] = [:]
    /// The keys in the order in which they were noted; those before `forgotten` are not kept.
    var order: [(key: RecordKey, noted: Int)] = []
    var forgotten = 0
    /// The answer to a query that was asked last, of those that were written down.
    var parts = Known()

    mutating func tick() -> Int {
      moment += 1
      return moment
    }

    mutating func note(_ key: RecordKey, asked: Int, noted: Int) {
      guard !readings.isEmpty else { return }
      keys[key] = Known(asked: max(keys[key]?.asked ?? 0, asked), noted: noted)
      order.append((key, noted))
    }

    /// Forgets what is older than every reading that is under way.
    mutating func forget() {
      guard let oldest = readings.first else {
        (keys, order, forgotten) = ([:], [], 0)
        return
      }
      while forgotten < order.count, order[forgotten].noted <= oldest {
        let (key, noted) = order[forgotten]
        if keys[key]?.noted == noted { keys[key] = nil }
        forgotten += 1
      }
      if forgotten > 256, forgotten > order.count / 2 {
        order.removeFirst(forgotten)
        forgotten = 0
      }
    }
  }

  private let state = Mutex(State())

  /// How many keys are remembered.
  var count: Int { state.withLock(\.keys.count) }

  /// A write of these keys begins.
  func begin(_ keys: [RecordKey]) {
    state.withLock { state in for key in keys { state.underWay[key, default: 0] += 1 } }
  }

  /// It has ended.
  func end(_ keys: [RecordKey]) {
    state.withLock { state in
      let moment = state.tick()
      for key in keys {
        let count = (state.underWay[key] ?? 1) - 1
        state.underWay[key] = count > 0 ? count : nil
        state.note(key, asked: moment, noted: moment)
      }
    }
  }

  /// A reading begins.
  ///
  /// - Parameter isOfTop: Whether the store that decides is asked.
  /// - Returns: The reading.
  func beginReading(isOfTop: Bool) -> Reading {
    state.withLock { state in
      let moment = state.tick()
      state.readings.append(moment)
      return Reading(moment: moment, isOfTop: isOfTop)
    }
  }

  /// It has ended, its answer written down.
  func end(_ reading: Reading) {
    state.withLock { state in
      if let place = state.readings.firstIndex(of: reading.moment) { state.readings.remove(at: place) }
      state.forget()
    }
  }

  /// The answer of the store that decides is about to be written down.
  ///
  /// - Parameters:
  ///   - reading: When it was asked.
  ///   - key: The key that it was asked for; nil for a query.
  func note(_ reading: Reading, of key: RecordKey?) {
    state.withLock { state in
      let moment = state.tick()
      if let key {
        state.note(key, asked: reading.moment, noted: moment)
      } else {
        state.parts = Known(asked: max(state.parts.asked, reading.moment), noted: moment)
      }
    }
  }

  /// Whether a younger answer to a query has been written down: this one would bring objects back that it lacked, or
  /// take some away that it had.
  func isOutdated(_ reading: Reading) -> Bool { state.withLock { $0.parts.isNewer(than: reading) } }

  /// Whether a key has been written or looked up since a reading began, or is being written.
  func isNewer(_ key: RecordKey, than reading: Reading) -> Bool {
    state.withLock { state in
      state.underWay[key] != nil || state.keys[key]?.isNewer(than: reading) == true
    }
  }
}
