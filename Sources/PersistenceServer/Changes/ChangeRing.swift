#if HTTP
  import Foundation
  import PersistenceDriver

  /// The newest changed keys of a model, each once, with the number of its last change.
  ///
  /// Above its limit, it forgets the oldest keys. Appending takes amortized constant time.
  struct ChangeRing {
    private struct Entry {
      let number: UInt64
      let key: RecordKey
    }

    private let limit: Int
    /// In order of their numbers; an entry is obsolete if its key has changed again.
    private var entries: [Entry] = []
    /// The number of the last change of each key.
    private var numbers: [RecordKey: UInt64] = [:]
    /// The first entry that was not forgotten.
    private var head = 0
    /// The number of the last forgotten key.
    private var forgotten: UInt64 = 0

    private(set) var epoch = UUID()
    private(set) var last: UInt64 = 0

    init(limit: Int) { self.limit = max(1, limit) }

    /// The number of keys.
    var count: Int { numbers.count }

    var checkpoint: Checkpoint { Checkpoint(epoch: epoch, number: last) }

    /// Forgets everything, because changes may have been missed.
    mutating func restart() { self = ChangeRing(limit: limit) }

    mutating func append(_ key: RecordKey) {
      last += 1
      numbers[key] = last
      entries.append(Entry(number: last, key: key))
      while numbers.count > limit {
        let oldest = entries[head]
        head += 1
        guard numbers[oldest.key] == oldest.number else { continue }
        numbers[oldest.key] = nil
        forgotten = oldest.number
      }
      // Remove forgotten and obsolete entries when they are the majority.
      guard entries.count > 2 * limit + 64 else { return }
      entries = entries[head...].filter { numbers[$0.key] == $0.number }
      head = 0
    }

    /// The oldest keys that changed after a checkpoint, with their numbers, in order; nil if some may be unknown.
    func keys(since checkpoint: Checkpoint, limit: Int) -> [(key: RecordKey, number: UInt64)]? {
      guard checkpoint.epoch == epoch, checkpoint.number >= forgotten, checkpoint.number <= last else {
        return nil
      }
      var (low, high) = (head, entries.count)
      while low < high {
        let middle = (low + high) / 2
        if entries[middle].number <= checkpoint.number { low = middle + 1 } else { high = middle }
      }
      var keys: [(key: RecordKey, number: UInt64)] = []
      while low < entries.count, keys.count < limit {
        let entry = entries[low]
        if numbers[entry.key] == entry.number { keys.append((entry.key, entry.number)) }
        low += 1
      }
      return keys
    }
  }
#endif
