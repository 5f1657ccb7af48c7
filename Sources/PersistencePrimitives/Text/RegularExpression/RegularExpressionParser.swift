/// Reads a pattern in the dialect that ``RegularExpressionPattern`` describes.
///
/// Open groups are in an array instead of on the call stack, and their number is limited. So no pattern can
/// overflow the stack of the parser, or of code that walks the tree.
struct RegularExpressionParser {
  typealias Syntax = RegularExpressionSyntax

  static let longestPattern = 200_000
  static let deepestGroup = 200
  static let greatestRepetition = 1000

  struct Flags {
    /// The flag `i`.
    var ignoresCase: Bool
    /// The flag `s`.
    var dotMatchesNewline = false
    /// The flag `m`.
    var multiline = false
  }

  struct Group {
    var openedAt: Int
    var flagsOutside: Flags
    var choices: [Syntax] = []
    var nodes: [Syntax] = []
  }

  let scalars: [Unicode.Scalar]
  var index = 0
  var flags: Flags
  var groups: [Group]
  /// The number of sets, each of which becomes at least one instruction.
  private var setCount = 0
  /// The large sets of the pattern, so that equal ones share their memory.
  private var largeSets: Set<ScalarSet> = []
  /// The sets of categories by their names and flags, since a large set takes long to fold.
  var categories: [String: ScalarSet] = [:]

  /// Reads a whole pattern; an error has the position of the first invalid or unsupported construct.
  static func parse(_ pattern: String, caseInsensitive: Bool) throws -> Syntax {
    guard pattern.utf8.count <= 4 * longestPattern, pattern.unicodeScalars.count <= longestPattern else {
      throw TextPatternError(
        reason: "pattern too large: more than \(longestPattern) characters", position: longestPattern)
    }
    var parser = RegularExpressionParser(
      scalars: Array(pattern.unicodeScalars), flags: Flags(ignoresCase: caseInsensitive))
    return try parser.parse()
  }

  private init(scalars: [Unicode.Scalar], flags: Flags) {
    self.scalars = scalars
    self.flags = flags
    groups = [Group(openedAt: 0, flagsOutside: flags)]
  }

  var next: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

  func error(_ reason: String, at position: Int) -> TextPatternError {
    TextPatternError(reason: reason, position: position)
  }

  /// Consumes `text` if it comes next.
  mutating func take(_ text: String) -> Bool {
    guard scalars[index...].starts(with: text.unicodeScalars) else { return false }
    index += text.unicodeScalars.count
    return true
  }

  /// The pattern's text from `start` to the current position.
  func text(from start: Int) -> String {
    var text = String.UnicodeScalarView()
    text.append(contentsOf: scalars[start..<min(index, scalars.count)])
    return String(text)
  }

  private mutating func parse() throws -> Syntax {
    while let scalar = next {
      guard setCount <= RegularExpressionProgram.largestProgram else {
        throw RegularExpressionProgram.tooLarge
      }
      let start = index
      index += 1
      switch scalar {
      case "(": try openGroup(at: start)
      case ")": try closeGroup(at: start)
      case "|": endChoice()
      case "*": try repeatLast(least: 0, most: nil, at: start)
      case "+": try repeatLast(least: 1, most: nil, at: start)
      case "?": try repeatLast(least: 0, most: 1, at: start)
      case "{":
        if let (least, most) = takeCounts() {
          try checkCounts(least, most, at: start)
          try repeatLast(least: least, most: most, at: start)
        } else {
          append(literal: scalar)
        }
      case "[": append(.scalar(try parseClass(openedAt: start)))
      case ".": append(.scalar(flags.dotMatchesNewline ? .any : .notNewline))
      case "^": append(.assertion(flags.multiline ? .lineStart : .textStart))
      case "$": append(.assertion(flags.multiline ? .lineEnd : .textEnd))
      case "\\": try parseEscape(at: start)
      default: append(literal: scalar)
      }
    }
    guard groups.count == 1 else {
      throw error("the group '(' is not closed", at: groups[groups.count - 1].openedAt)
    }
    endChoice()
    return Self.choice(groups[0].choices)
  }

  private static func choice(_ choices: [Syntax]) -> Syntax {
    choices.count == 1 ? choices[0] : .choice(choices)
  }

  mutating func append(_ node: Syntax) {
    var node = node
    if case .scalar(let set) = node {
      setCount += 1
      if set.ranges.count > 4 { node = .scalar(largeSets.insert(set).memberAfterInsert) }
    }
    groups[groups.count - 1].nodes.append(node)
  }

  mutating func append(literal scalar: Unicode.Scalar) { append(.scalar(folded(ScalarSet(scalar.value)))) }

  /// The set to compare under the current flags.
  func folded(_ set: ScalarSet) -> ScalarSet { flags.ignoresCase ? CaseFolding.closure(of: set) : set }

  private mutating func parseEscape(at start: Int) throws {
    switch next {
    case "Q":
      index += 1
      while let scalar = next, !take("\\E") {
        index += 1
        append(literal: scalar)
      }
    case "A": takeAssertion(.textStart)
    case "z": takeAssertion(.textEnd)
    case "b": takeAssertion(.wordBoundary)
    case "B": takeAssertion(.notWordBoundary)
    default:
      if let set = try takeClassEscape(at: start) {
        append(.scalar(set))
      } else {
        append(literal: try takeScalarEscape(at: start))
      }
    }
  }

  private mutating func takeAssertion(_ assertion: Syntax.Assertion) {
    index += 1
    append(.assertion(assertion))
  }
}

// MARK: Groups

extension RegularExpressionParser {
  private mutating func endChoice() {
    let last = groups.count - 1
    groups[last].choices.append(.joined(groups[last].nodes))
    groups[last].nodes.removeAll(keepingCapacity: true)
  }

  private mutating func closeGroup(at start: Int) throws {
    guard groups.count > 1 else { throw error("')' has no matching '('", at: start) }
    endChoice()
    let group = groups.removeLast()
    flags = group.flagsOutside
    append(Self.choice(group.choices))
  }

  /// Reads the text after `(`: a group, a named group, flags alone, or a group with flags.
  private mutating func openGroup(at start: Int) throws {
    let outside = flags
    if take("?") {
      if take("P<") {
        try takeGroupName(openedAt: start)
      } else if next == "<", !isFollowed(by: "<="), !isFollowed(by: "<!") {
        index += 1
        try takeGroupName(openedAt: start)
      } else if try takeFlags(openedAt: start) {
        return
      }
    }
    guard groups.count <= Self.deepestGroup else {
      throw error("groups are nested more than \(Self.deepestGroup) deep", at: start)
    }
    groups.append(Group(openedAt: start, flagsOutside: outside))
  }

  private func isFollowed(by text: String) -> Bool { scalars[index...].starts(with: text.unicodeScalars) }

  private mutating func takeGroupName(openedAt start: Int) throws {
    let nameStart = index
    while let scalar = next, scalar != ">" {
      guard ScalarSet.word.contains(scalar.value) else {
        throw error("a group's name may contain only ASCII letters, digits and '_'", at: index)
      }
      index += 1
    }
    let name = text(from: nameStart)
    guard take(">"), !name.isEmpty else {
      throw error("the group's name is missing or not closed by '>'", at: start)
    }
  }

  /// Reads flags such as `i` or `s-m`, and the scalar that ends them; returns whether they have no group.
  private mutating func takeFlags(openedAt start: Int) throws -> Bool {
    var flags = flags
    var value = true
    var namesFlag = true
    while let scalar = next {
      index += 1
      switch scalar {
      case "i": flags.ignoresCase = value
      case "s": flags.dotMatchesNewline = value
      case "m": flags.multiline = value
      case "U": break  // The preferred match does not matter, only whether there is one.
      case "-" where value:
        value = false
        namesFlag = false
        continue
      case ":" where namesFlag, ")" where namesFlag:
        self.flags = flags
        return scalar == ")"
      default:
        throw error(unsupportedGroup(scalar), at: start)
      }
      namesFlag = true
    }
    throw error("the group '(?' is not closed", at: start)
  }

  /// The message for an unsupported group that begins with `(?` and this scalar.
  private func unsupportedGroup(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "=": "look-ahead '(?=' is not supported"
    case "!": "look-ahead '(?!' is not supported"
    case "<": "look-behind '(?\(next == "!" ? "<!" : "<=")' is not supported"
    case ">": "the atomic group '(?>' is not supported"
    case "#": "the comment '(?#' is not supported"
    case "|": "the branch reset '(?|' is not supported"
    case "(": "the conditional '(?(' is not supported"
    case "R", "&", "0"..."9": "recursion '(?\(scalar)' is not supported"
    case "P" where next == "=": "the back-reference '(?P=' is not supported"
    case "P" where next == ">": "recursion '(?P>' is not supported"
    case "x": "the flag 'x' is not supported"
    default: "'(?\(Self.quoted(scalar))' is not a group or flag of this dialect"
    }
  }
}
