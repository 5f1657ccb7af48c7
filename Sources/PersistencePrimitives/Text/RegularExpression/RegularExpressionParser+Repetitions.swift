extension RegularExpressionParser {
  mutating func repeatLast(least: Int, most: Int?, at start: Int) throws {
    let operation = quoted(from: start)
    let last = groups.count - 1
    guard let node = groups[last].nodes.popLast() else {
      throw error("'\(operation)' has nothing to repeat", at: start)
    }
    let isLazy = take("?")  // Lazy and greedy matching have the same result.
    if next == "+", !isLazy {
      throw error("the possessive repetition '\(operation)+' is not supported", at: start)
    }
    let following = index
    if next == "*" || next == "+" || next == "?" || (take("{") && takeCounts() != nil) {
      throw error(
        "a repetition cannot be repeated; put '\(operation)' and what it repeats in a group", at: following)
    }
    index = following
    groups[last].nodes.append(.repeated(node, least: least, most: most))
  }

  func checkCounts(_ least: Int, _ most: Int?, at start: Int) throws {
    guard max(least, most ?? 0) <= Self.greatestRepetition else {
      throw error("'\(quoted(from: start))' repeats more than \(Self.greatestRepetition) times", at: start)
    }
    guard least <= most ?? .max else {
      throw error("'\(quoted(from: start))' has a minimum above its maximum", at: start)
    }
  }

  /// Reads `n}`, `n,}` or `n,m}`; otherwise reads nothing, since `{` is then literal.
  mutating func takeCounts() -> (least: Int, most: Int?)? {
    let start = index
    if let least = takeNumber() {
      if take("}") { return (least, least) }
      if take(",") {
        if take("}") { return (least, nil) }
        if let most = takeNumber(), take("}") { return (least, most) }
      }
    }
    index = start
    return nil
  }

  /// Reads decimal digits; a number above every limit is clamped, but stays above.
  private mutating func takeNumber() -> Int? {
    let start = index
    var number = 0
    while let digit = next?.value, digit &- 0x30 < 10 {
      number = min(number * 10 + Int(digit - 0x30), 1_000_000)
      index += 1
    }
    return index > start ? number : nil
  }
}
