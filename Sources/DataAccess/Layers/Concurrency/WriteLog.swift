import Foundation
import PersistenceCore
import Synchronization

/// Orders the reads and writes of a layered data source, so that a refresh neither overwrites a newer state nor
/// claims an older one.
///
/// Two calls have a known order only if one ended before the other started. Reads of the top layer are ordered
/// by their start, since answers can arrive out of order. A read of a replica shows the changes that the replica
/// had stored when the read started.
///
/// A key counts as newer in a layer only after that layer has stored it. A write that was refused, or that the
/// layer missed, leaves no trace.
final class WriteLog: Sendable {
  /// A read in flight.
  ///
  /// The log keeps the changes since its start until the read is released, so that a refresh that continues after
  /// its timeout still sees them.
  final class Reading: Sendable {
    fileprivate let moment: Int
    let isOfTop: Bool
    /// The date from which the answer is valid.
    ///
    /// A write in flight at the start may end with a state from before the read, so its start counts.
    let asOf: Date
    private let log: WriteLog
    /// The moment of the question, which may follow the sending of waiting writes.
    private let asked: Atomic<Int>

    fileprivate init(_ moment: Int, isOfTop: Bool, asOf: Date, in log: WriteLog) {
      (self.moment, self.isOfTop, self.asOf, self.log) = (moment, isOfTop, asOf, log)
      asked = Atomic(moment)
    }

    /// Marks that the top layer is asked now: its answer contains the waiting writes that it has acknowledged before.
    func ask() { asked.store(log.tick(), ordering: .sequentiallyConsistent) }

    /// Whether a write that was acknowledged at a moment may be missing from the answer.
    fileprivate func mayMiss(_ moment: Int) -> Bool {
      isOfTop && moment > asked.load(ordering: .sequentiallyConsistent)
    }

    deinit { log.endReading(moment) }
  }

  /// The state of a key in a layer, compared with an answer.
  enum HeldState {
    /// The answer is at least as new.
    case older
    /// The layer stored a newer state.
    case newer
    /// A write is in flight, which may be stored, refused or unknown; or the top layer has acknowledged a waiting
    /// write since the question, and its answer may be from before or after it.
    case undecided
  }

  /// The moments of the last change of a key.
  private struct Change {
    /// The moment that the new state is valid from.
    var started = 0
    /// The moment after the layer stored it.
    var stored = 0

    func isNewer(than reading: Reading) -> Bool {
      (reading.isOfTop ? started : stored) > reading.moment
    }
  }

  /// The changes that one layer stored while reads were in flight.
  private struct Changes {
    var keys: [RecordKey: Change] = [:]
    /// The keys in order of storing.
    ///
    /// Entries before `forgotten` are obsolete.
    private var order: [(key: RecordKey, stored: Int)] = []
    private var forgotten = 0
    /// The newest stored answer to a query.
    var lastQuery = Change()

    mutating func add(_ key: RecordKey, started: Int, stored: Int) {
      keys[key] = Change(started: max(keys[key]?.started ?? 0, started), stored: stored)
      order.append((key, stored))
    }

    /// Removes the entries that are older than every read in flight.
    mutating func forget(before oldest: Int?) {
      guard let oldest else {
        (keys, order, forgotten) = ([:], [], 0)
        return
      }
      while forgotten < order.count, order[forgotten].stored <= oldest {
        let (key, stored) = order[forgotten]
        if keys[key]?.stored == stored { keys[key] = nil }
        forgotten += 1
      }
      if forgotten > 256, forgotten > order.count / 2 {
        order.removeFirst(forgotten)
        forgotten = 0
      }
    }
  }

  private struct State {
    var moment = 0
    /// The start moments of the reads in flight, in order.
    var readings: [Int] = []
    var inFlight: [RecordKey: (count: Int, start: Date)] = [:]
    var changes: [DataSourceLayer: Changes] = [:]
    /// The waiting writes that the top layer has acknowledged.
    var acknowledged = Changes()

    mutating func tick() -> Int {
      moment += 1
      return moment
    }
  }

  private let state = Mutex(State())

  /// The number of changes that the log keeps.
  var count: Int {
    state.withLock { $0.changes.values.reduce($0.acknowledged.keys.count) { $0 + $1.keys.count } }
  }

  private func tick() -> Int { state.withLock { $0.tick() } }

  // MARK: Writes

  /// Marks the start of a write.
  func begin(_ keys: [RecordKey], at date: Date) {
    state.withLock { state in
      for key in keys { state.inFlight[key, default: (0, date)].count += 1 }
    }
  }

  /// Marks the end of a write.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - layers: The layers that stored it; none if it was refused or its outcome is unknown.
  ///   - isAcknowledged: Whether the top layer has acknowledged it, which the other layers had stored before.
  func end(_ keys: [RecordKey], storedIn layers: [DataSourceLayer], isAcknowledged: Bool = false) {
    state.withLock { state in
      let moment = state.tick()
      for key in keys {
        let count = (state.inFlight[key]?.count ?? 1) - 1
        if count > 0 { state.inFlight[key]?.count = count } else { state.inFlight[key] = nil }
        if state.readings.isEmpty { continue }
        if isAcknowledged { state.acknowledged.add(key, started: moment, stored: moment) }
        for layer in layers {
          state.changes[layer, default: Changes()].add(key, started: moment, stored: moment)
        }
      }
    }
  }

  // MARK: Reads

  /// Starts a read of the top layer or of a replica.
  func beginReading(isOfTop: Bool, at date: Date) -> Reading {
    let (moment, asOf) = state.withLock { state in
      let moment = state.tick()
      state.readings.append(moment)
      return (moment, state.inFlight.values.reduce(date) { min($0, $1.start) })
    }
    return Reading(moment, isOfTop: isOfTop, asOf: asOf, in: self)
  }

  private func endReading(_ moment: Int) {
    state.withLock { state in
      if let index = state.readings.firstIndex(of: moment) { state.readings.remove(at: index) }
      let oldest = state.readings.first
      for layer in state.changes.keys { state.changes[layer]?.forget(before: oldest) }
      state.acknowledged.forget(before: oldest)
    }
  }

  /// Marks that a layer has stored an answer of the top layer, for a key or for a query.
  func stored(_ reading: Reading, of key: RecordKey?, in layer: DataSourceLayer) {
    guard reading.isOfTop else { return }
    state.withLock { state in
      let moment = state.tick()
      var changes = state.changes[layer] ?? Changes()
      if let key {
        changes.add(key, started: reading.moment, stored: moment)
      } else {
        changes.lastQuery = Change(started: max(changes.lastQuery.started, reading.moment), stored: moment)
      }
      state.changes[layer] = changes
    }
  }

  /// Whether a layer has stored a newer answer to a query.
  ///
  /// An outdated answer could restore deleted objects or delete new ones.
  func isOutdated(_ reading: Reading, in layer: DataSourceLayer) -> Bool {
    state.withLock { $0.changes[layer]?.lastQuery.isNewer(than: reading) ?? false }
  }

  /// The state of a key in a layer, compared with the answer of a read.
  func state(of key: RecordKey, in layer: DataSourceLayer, for reading: Reading) -> HeldState {
    state.withLock { state in
      if state.inFlight[key] != nil { return .undecided }
      if let change = state.acknowledged.keys[key], reading.mayMiss(change.started) { return .undecided }
      return state.changes[layer]?.keys[key]?.isNewer(than: reading) == true ? .newer : .older
    }
  }
}
