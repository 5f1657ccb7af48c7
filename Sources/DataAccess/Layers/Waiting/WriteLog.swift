import PersistenceCore
import Synchronization

/// Which keys have been written lately: an answer that was asked for before is older than what is held of them.
final class WriteLog: Sendable {
  private struct State {
    var moment = 0
    var reads: [Int: Int] = [:]
    var underWay: [RecordKey: Int] = [:]
    var written: [RecordKey: Int] = [:]
  }

  /// A read that is under way, from its beginning on.
  struct Reading: Sendable {
    fileprivate let moment: Int
  }

  private let state = Mutex(State())

  /// A write of these keys begins.
  func begin(_ keys: [RecordKey]) {
    state.withLock { state in for key in keys { state.underWay[key, default: 0] += 1 } }
  }

  /// It has ended.
  func end(_ keys: [RecordKey]) {
    state.withLock { state in
      state.moment += 1
      for key in keys {
        let count = (state.underWay[key] ?? 1) - 1
        state.underWay[key] = count > 0 ? count : nil
        if !state.reads.isEmpty { state.written[key] = state.moment }
      }
    }
  }

  /// A read begins.
  func beginReading() -> Reading {
    state.withLock { state in
      state.reads[state.moment, default: 0] += 1
      return Reading(moment: state.moment)
    }
  }

  /// It has ended, its answer written down.
  func end(_ reading: Reading) {
    state.withLock { state in
      let count = (state.reads[reading.moment] ?? 1) - 1
      state.reads[reading.moment] = count > 0 ? count : nil
      if state.reads.isEmpty { state.written = [:] }
    }
  }

  /// Whether a key has been written since a read began, or is being written.
  func isNewer(_ key: RecordKey, than reading: Reading) -> Bool {
    state.withLock { state in
      state.underWay[key] != nil || (state.written[key] ?? 0) > reading.moment
    }
  }
}
