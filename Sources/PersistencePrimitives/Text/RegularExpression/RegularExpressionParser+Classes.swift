extension RegularExpressionParser {
  /// Reads a class, after its `[`, up to its `]`.
  mutating func parseClass(openedAt start: Int) throws -> ScalarSet {
    let isNegated = take("^")
    var ranges: [ScalarSet.Range] = []
    var isFirst = true
    while let scalar = next, isFirst || scalar != "]" {
      isFirst = false
      if let set = try takePosixClass() {
        ranges += set.ranges
      } else {
        try takeClassItem(into: &ranges)
      }
    }
    guard take("]") else { throw error("the class '[' is not closed", at: start) }
    let set = folded(ScalarSet(ranges))
    return isNegated ? set.inverted : set
  }

  /// Reads one scalar, a range, or an escape for a set.
  private mutating func takeClassItem(into ranges: inout [ScalarSet.Range]) throws {
    let start = index
    if next == "\\" {
      index += 1
      if let set = try takeClassEscape(at: start) {
        ranges += set.ranges
        return
      }
      index = start
    }
    let first = try takeClassScalar()
    guard next == "-", index + 1 < scalars.count, scalars[index + 1] != "]" else {
      ranges.append(.init(first.value, first.value))
      return
    }
    index += 1
    let last = try takeClassScalar()
    guard first <= last else { throw error("the range '\(quoted(from: start))' is reversed", at: start) }
    ranges.append(.init(first.value, last.value))
  }

  private mutating func takeClassScalar() throws -> Unicode.Scalar {
    let start = index
    guard let scalar = next else { throw error("the class is not closed", at: start) }
    index += 1
    guard scalar == "\\" else { return scalar }
    if let name = next, "dDsSwWpP".unicodeScalars.contains(name) {
      throw error("'\\\(name)' stands for a set and cannot end a range", at: start)
    }
    return try takeScalarEscape(at: start)
  }

  /// Reads `[:name:]` or `[:^name:]`; nil for anything else.
  private mutating func takePosixClass() throws -> ScalarSet? {
    let start = index
    guard take("[:") else { return nil }
    while let scalar = next, scalar != "]", scalar != ":" { index += 1 }
    var name = String(text(from: start).dropFirst(2))
    guard take(":]") else {
      index = start
      return nil
    }
    let isNegated = name.hasPrefix("^")
    if isNegated { name.removeFirst() }
    guard let set = ScalarSet.posixClasses[name] else {
      throw error("'\(quoted(from: start))' is not a POSIX class", at: start)
    }
    return isNegated ? folded(set).inverted : set
  }
}

// MARK: Escapes

extension RegularExpressionParser {
  /// Reads an escape for a set, after its `\`; nil for any other escape.
  mutating func takeClassEscape(at start: Int) throws -> ScalarSet? {
    switch next {
    case "d": return takeSet(.digit)
    case "D": return takeSet(.digit, negated: true)
    case "s": return takeSet(.space)
    case "S": return takeSet(.space, negated: true)
    case "w": return takeSet(.word)
    case "W": return takeSet(.word, negated: true)
    case "p", "P": return try takeCategory(at: start)
    default: return nil
    }
  }

  private mutating func takeSet(_ set: ScalarSet, negated: Bool = false) -> ScalarSet {
    index += 1
    return negated ? folded(set).inverted : folded(set)
  }

  /// Reads `pL`, `p{Lu}`, `p{^Lu}` and the same with `P`.
  private mutating func takeCategory(at start: Int) throws -> ScalarSet {
    var isNegated = next == "P"
    index += 1
    var name: String
    if take("{") {
      let nameStart = index
      while let scalar = next, scalar != "}" { index += 1 }
      name = text(from: nameStart)
      guard take("}") else { throw error("'\\p{' is not closed", at: start) }
      if name.hasPrefix("^") {
        isNegated.toggle()
        name.removeFirst()
      }
    } else {
      guard let scalar = next else { throw error("'\\p' has no name", at: start) }
      index += 1
      name = String(scalar)
    }
    let key = "\(isNegated) \(flags.ignoresCase) \(name)"
    if let known = categories[key] { return known }
    guard let set = ScalarSet.named(name) else {
      throw error(
        "'\(quoted(from: start))' is not a Unicode general category; scripts are not supported", at: start)
    }
    let category = isNegated ? folded(set).inverted : folded(set)
    categories[key] = category
    return category
  }

  /// Reads an escape for one scalar, after its `\`.
  mutating func takeScalarEscape(at start: Int) throws -> Unicode.Scalar {
    guard let scalar = next else { throw error("the pattern ends in a lone '\\'", at: start) }
    index += 1
    switch scalar {
    case "a": return "\u{7}"
    case "f": return "\u{C}"
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "v": return "\u{B}"
    case "x": return try takeHexadecimal(at: start)
    case "0": return octal(scalar)
    case "1"..."7":
      if let digit = next, "0"..."7" ~= digit { return octal(scalar) }
      throw error("the back-reference '\\\(scalar)' is not supported", at: start)
    case "8", "9": throw error("the back-reference '\\\(scalar)' is not supported", at: start)
    case "k", "g": throw error("the back-reference '\\\(scalar)' is not supported", at: start)
    case "Z": throw error("'\\Z' is not supported; '\\z' is the end of the text", at: start)
    default:
      if scalar.isASCII, scalar == "_" || !ScalarSet.word.contains(scalar.value) { return scalar }
      throw error("the escape '\\\(Self.quoted(scalar))' is not supported", at: start)
    }
  }

  /// Reads up to two more octal digits.
  private mutating func octal(_ first: Unicode.Scalar) -> Unicode.Scalar {
    var value = first.value - 0x30
    for _ in 0..<2 {
      guard let digit = next, "0"..."7" ~= digit else { break }
      value = value * 8 + digit.value - 0x30
      index += 1
    }
    return Unicode.Scalar(value) ?? first
  }

  /// Reads two hexadecimal digits, or any number of them in braces.
  private mutating func takeHexadecimal(at start: Int) throws -> Unicode.Scalar {
    let isBraced = take("{")
    var value: UInt32 = 0
    var digits = 0
    while isBraced || digits < 2, let digit = next,
      let number = Self.hexadecimalValue(digit), value <= ScalarSet.greatestScalar
    {
      value = value * 16 + number
      digits += 1
      index += 1
    }
    let isComplete = isBraced ? digits > 0 && take("}") : digits == 2
    guard isComplete else { throw error("'\\x' needs two hexadecimal digits, or some in braces", at: start) }
    guard let scalar = Unicode.Scalar(value) else {
      throw error("'\(quoted(from: start))' is not a Unicode scalar", at: start)
    }
    return scalar
  }

  private static func hexadecimalValue(_ scalar: Unicode.Scalar) -> UInt32? {
    switch scalar {
    case "0"..."9": scalar.value - 0x30
    case "A"..."F": scalar.value - 0x41 + 10
    case "a"..."f": scalar.value - 0x61 + 10
    default: nil
    }
  }
}

extension RegularExpressionParser {
  /// The same text for a message: shortened, and without control characters.
  func quoted(from start: Int) -> String {
    let longest = 40
    let part = scalars[start..<min(index, scalars.count)]
    return part.prefix(longest).map(Self.quoted).joined() + (part.count > longest ? "…" : "")
  }

  static func quoted(_ scalar: Unicode.Scalar) -> String {
    scalar.value < 0x20 || 0x7F..<0xA0 ~= scalar.value
      ? "\\u{\(String(scalar.value, radix: 16, uppercase: true))}" : String(scalar)
  }
}
