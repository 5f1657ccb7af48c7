/// A run of the worker whose file calls were recorded.
struct RecordedRun {
  /// A moment at which the power may fail: after an event.
  struct Moment {
    var disk: RecordedDisk
    var history: CommitHistory
    /// What happened last, for a report.
    var cause: String
    /// Whether a transaction has just been acknowledged or seen.
    var isPromise: Bool
  }

  let events: [FileEvent]
  /// The moments at which the disk or the promises changed, in order.
  let moments: [Moment]
  /// The disk at the end.
  let disk: RecordedDisk
  /// What the worker had promised at its end.
  let history: CommitHistory
  /// The fault that happened, if any.
  let hasFault: Bool

  init(_ events: [FileEvent]) {
    self.events = events
    var disk = RecordedDisk()
    var history = CommitHistory()
    var moments = [
      Moment(disk: disk, history: history, cause: "before the store was created", isPromise: true)
    ]
    var hasFault = false
    for event in events {
      disk.apply(event)
      switch event {
      case .mark(let line):
        history.take(line)
        let isPromise = ["ack ", "seen ", "closed", "open"].contains { line.hasPrefix($0) }
        guard isPromise || line.hasPrefix("refused ") else { continue }
        moments.append(
          Moment(disk: disk, history: history, cause: Self.cause(line), isPromise: isPromise))
      case .open(_, _, let isCreated, let isTruncated, _) where !isCreated && !isTruncated: continue
      case .map, .count, .unknown: continue
      case .fault: hasFault = true
      default:
        moments.append(Moment(disk: disk, history: history, cause: Self.cause(event), isPromise: false))
      }
    }
    (self.moments, self.disk, self.history, self.hasFault) = (moments, disk, history, hasFault)
  }

  /// The number of calls of a class.
  func count(_ calls: FileFault.Calls) -> Int {
    for case .count(calls, let count) in events { return count }
    return 0
  }
}
