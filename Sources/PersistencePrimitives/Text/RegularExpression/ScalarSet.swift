/// A set of Unicode scalar values, as ascending ranges that neither touch nor overlap.
struct ScalarSet: Hashable, Sendable {
  struct Range: Hashable, Sendable {
    var first: UInt32
    var last: UInt32

    init(_ first: UInt32, _ last: UInt32) { (self.first, self.last) = (first, last) }
  }

  static let greatestScalar: UInt32 = 0x10FFFF

  let ranges: [Range]

  /// The union of ranges in any order.
  init(_ ranges: [Range]) {
    guard ranges.count > 1 else {
      self.ranges = ranges
      return
    }
    var merged: [Range] = []
    for range in ranges.sorted(by: { $0.first < $1.first }) {
      if let last = merged.last, range.first <= last.last &+ 1 {
        merged[merged.count - 1].last = max(last.last, range.last)
      } else {
        merged.append(range)
      }
    }
    self.ranges = merged
  }

  init(_ scalar: UInt32) { ranges = [Range(scalar, scalar)] }

  /// The scalar of a set that contains exactly one.
  var onlyScalar: UInt32? {
    guard ranges.count == 1, let range = ranges.first, range.first == range.last else { return nil }
    return range.first
  }

  /// Every scalar value that is not in the set.
  var inverted: ScalarSet {
    var gaps: [Range] = []
    var next: UInt32 = 0
    for range in ranges {
      if range.first > next { gaps.append(Range(next, range.first - 1)) }
      next = range.last + 1
    }
    if next <= Self.greatestScalar { gaps.append(Range(next, Self.greatestScalar)) }
    return ScalarSet(gaps)
  }

  func contains(_ scalar: UInt32) -> Bool {
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].last < scalar { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].first <= scalar
  }
}

extension ScalarSet {
  private static func ascii(_ ranges: (Unicode.Scalar, Unicode.Scalar)...) -> ScalarSet {
    ScalarSet(ranges.map { Range($0.0.value, $0.1.value) })
  }

  static let any = ScalarSet([Range(0, greatestScalar)])
  static let newline = ascii(("\n", "\n"))
  static let notNewline = newline.inverted
  static let digit = ascii(("0", "9"))
  static let word = ascii(("0", "9"), ("A", "Z"), ("_", "_"), ("a", "z"))
  /// RE2's `\s`: without the vertical tab.
  static let space = ascii(("\t", "\n"), ("\u{C}", "\r"), (" ", " "))

  /// The POSIX classes, by the name between `[:` and `:]`; all are ASCII, as in RE2.
  static let posixClasses: [String: ScalarSet] = [
    "alnum": ascii(("0", "9"), ("A", "Z"), ("a", "z")),
    "alpha": ascii(("A", "Z"), ("a", "z")),
    "ascii": ascii(("\0", "\u{7F}")),
    "blank": ascii(("\t", "\t"), (" ", " ")),
    "cntrl": ascii(("\0", "\u{1F}"), ("\u{7F}", "\u{7F}")),
    "digit": digit,
    "graph": ascii(("!", "~")),
    "lower": ascii(("a", "z")),
    "print": ascii((" ", "~")),
    "punct": ascii(("!", "/"), (":", "@"), ("[", "`"), ("{", "~")),
    "space": ascii(("\t", "\r"), (" ", " ")),
    "upper": ascii(("A", "Z")),
    "word": word,
    "xdigit": ascii(("0", "9"), ("A", "F"), ("a", "f")),
  ]
}
