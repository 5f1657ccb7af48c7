import PersistenceDriver
import PersistenceDriverSupport

/// Sorts entries with distinct keys in bounded memory by an external merge sort.
///
/// The sorter writes sorted runs to a file and merges them when they are read (Knuth, The Art of Computer
/// Programming, volume 3, section 5.4). After all entries are added, they can be read any number of times.
final class EntrySorter {
  private let memory: Int
  private let folder: String
  private var batch: EntryBatch
  private var file: ScratchFile?
  private var ranges: [Range<Int>] = []

  /// A heap of the runs with entries left, the least entry first.
  private var heap: [SortedRun] = []
  private var runs: [SortedRun] = []
  /// The next entry of the batch if all entries are in memory.
  private var next = 0
  private var hasBegun = false

  /// Creates a sorter with this memory in bytes, whose file is in the folder.
  init(memory: Int, folder: String) {
    self.memory = memory
    self.folder = folder
    batch = EntryBatch(limit: memory)
  }

  /// Adds an entry.
  func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
    batch.add(key, value)
    if batch.isFull { try spill() }
  }

  func finish() throws {
    if file == nil { return batch.sort() }
    try spill()
    guard let file else { return }
    let share = memory / max(1, ranges.count)
    runs = ranges.map { SortedRun($0, of: file, memory: min(1 << 18, share)) }
  }

  private func spill() throws {
    guard !batch.isEmpty else { return }
    batch.sort()
    let file = try file ?? ScratchFile(in: folder)
    self.file = file
    ranges.append(try SortedRun.write(batch, to: file))
    batch.removeAll()
  }

  /// Restarts before the first entry.
  func rewind() {
    (next, hasBegun) = (0, false)
    heap.removeAll()
    for run in runs { run.rewind() }
  }

  /// The next entry in key order, borrowed until the next call; nil at the end.
  ///
  /// - Complexity: O(log *r*) for *r* runs.
  func entry() throws -> OrderedEntry? {
    if runs.isEmpty {
      guard next < batch.count else { return nil }
      defer { next += 1 }
      return batch[next]
    }
    if hasBegun, let first = heap.first {
      try first.advance()
      if first.entry == nil {
        let last = heap.removeLast()
        if !heap.isEmpty { heap[0] = last }
      }
      sink(0)
    } else if !hasBegun {
      hasBegun = true
      for run in runs {
        try run.advance()
        if run.entry != nil { heap.append(run) }
      }
      for index in (0..<heap.count / 2).reversed() { sink(index) }
    }
    return heap.first?.entry
  }

  /// Restores the heap below a position.
  private func sink(_ start: Int) {
    var index = start
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2] where child < heap.count && precedes(child, least) {
        least = child
      }
      guard least != index else { return }
      heap.swapAt(index, least)
      index = least
    }
  }

  private func precedes(_ left: Int, _ right: Int) -> Bool {
    guard let left = heap[left].entry, let right = heap[right].entry else { return false }
    return TotalOrder.compare(left.key, right.key) < 0
  }
}
