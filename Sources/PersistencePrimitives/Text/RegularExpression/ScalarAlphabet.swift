/// A partition of the scalars into classes: each set of a group contains all scalars of a class, or none.
struct ScalarAlphabet: Sendable {
  /// The maximum size of the table of classes and sets, in words (8 MiB).
  private static let largestTable = 1 << 20
  private static let lowScalars: UInt32 = 0x800

  let classCount: Int

  /// The kind of each class, for the assertions.
  let kinds: [Kind]

  /// The class of each scalar below `0x800`.
  let lowClasses: [UInt16]

  /// The first scalar of each run of equal class, and the class of each run.
  private let runStarts: [UInt32]
  private let runClasses: [UInt16]

  /// For each class, `words` words with one bit per set that contains it.
  private let membership: [UInt64]
  private let words: Int

  /// The property of a neighbouring scalar that assertions depend on.
  enum Kind: UInt8, Sendable {
    /// No neighbour: the text begins or ends here.
    case none
    case newline
    case word
    case other
  }

  init(_ sets: [ScalarSet]) throws {
    var edges: [(scalar: UInt32, set: Int)] = []
    for (number, set) in sets.enumerated() {
      for range in set.ranges { edges += [(range.first, number), (range.last + 1, number)] }
    }
    edges.sort { $0.scalar < $1.scalar }
    let words = max(1, (sets.count + 63) / 64)
    var members = [UInt64](repeating: 0, count: words)
    var numbers: [[UInt64]: UInt16] = [:]
    var table: [UInt64] = []
    var starts: [UInt32] = []
    var classes: [UInt16] = []
    var kinds: [Kind] = []
    var edge = 0
    var start: UInt32 = 0
    while start <= ScalarSet.greatestScalar {
      while edge < edges.count, edges[edge].scalar == start {
        members[edges[edge].set / 64] ^= 1 << UInt64(edges[edge].set % 64)
        edge += 1
      }
      let number: UInt16
      if let known = numbers[members] {
        number = known
      } else {
        guard numbers.count < Int(UInt16.max), table.count + words <= Self.largestTable else {
          throw RegularExpressionProgram.tooLarge
        }
        number = UInt16(numbers.count)
        numbers[members] = number
        table += members
        kinds.append(start == 0x0A ? .newline : (ScalarSet.word.contains(start) ? .word : .other))
      }
      starts.append(start)
      classes.append(number)
      start = edge < edges.count ? edges[edge].scalar : ScalarSet.greatestScalar + 1
    }
    classCount = numbers.count
    self.kinds = kinds
    self.words = words
    membership = table
    runStarts = starts
    runClasses = classes
    var low: [UInt16] = []
    for (run, number) in classes.enumerated() {
      let end = run + 1 < starts.count ? min(starts[run + 1], Self.lowScalars) : Self.lowScalars
      while low.count < end { low.append(number) }
    }
    lowClasses = low
  }

  /// The class of any scalar value; logarithmic in the number of runs.
  func classOf(_ scalar: UInt32) -> Int {
    var low = 0
    var high = runStarts.count - 1
    if scalar >= runStarts[high] { return Int(runClasses[high]) }
    while low < high {
      let middle = (low + high + 1) / 2
      if runStarts[middle] <= scalar { low = middle } else { high = middle - 1 }
    }
    return Int(runClasses[low])
  }

  func isMember(_ number: Int, of set: Int) -> Bool {
    membership[number * words + set / 64] & 1 << UInt64(set % 64) != 0
  }
}
