import PersistenceCore

/// Text searches by rule V7, as the simplest correct code with acceptable speed.
enum FuzzText {
  /// Returns whether a text matches a search; nil if the pattern is invalid.
  static func search(_ search: TextOperator, _ needle: String, isCaseInsensitive: Bool) -> ((String) -> Bool)?
  {
    let wanted = scalars(needle, isCaseInsensitive)
    switch search {
    case .contains:
      return { text in
        let text = scalars(text, isCaseInsensitive)
        guard text.count >= wanted.count else { return false }
        return (0...(text.count - wanted.count)).contains { begins(text, at: $0, with: wanted) }
      }
    case .hasPrefix: return { begins(scalars($0, isCaseInsensitive), at: 0, with: wanted) }
    case .hasSuffix:
      return { text in
        let text = scalars(text, isCaseInsensitive)
        return text.count >= wanted.count && begins(text, at: text.count - wanted.count, with: wanted)
      }
    case .like:
      guard let parts = parts(of: wanted) else { return nil }
      return { matches(scalars($0, isCaseInsensitive), parts) }
    case .matches:
      guard let pattern = FuzzPattern.all.first(where: { FuzzValue.isSameName($0.text, needle) }) else {
        return nil
      }
      return { pattern.isFound(Array($0.unicodeScalars), isCaseInsensitive ? lowered : { $0 }) }
    }
  }

  private static func scalars(_ text: String, _ isCaseInsensitive: Bool) -> [Unicode.Scalar] {
    guard isCaseInsensitive else { return Array(text.unicodeScalars) }
    var all: [Unicode.Scalar] = []
    for scalar in text.unicodeScalars {
      if scalar.isASCII {
        all.append(lowered(scalar))
      } else {
        all.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
      }
    }
    return all
  }

  /// The scalar's lower-case mapping; the scalar itself if the mapping has several scalars.
  private static func lowered(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    let mapping = scalar.properties.lowercaseMapping.unicodeScalars
    return mapping.count == 1 ? mapping[mapping.startIndex] : scalar
  }

  private static func begins(_ text: [Unicode.Scalar], at start: Int, with wanted: [Unicode.Scalar]) -> Bool {
    guard text.count - start >= wanted.count else { return false }
    for index in wanted.indices where text[start + index] != wanted[index] { return false }
    return true
  }

  private enum Part: Equatable {
    case run, one
    case scalar(Unicode.Scalar)
  }

  private static func parts(of pattern: [Unicode.Scalar]) -> [Part]? {
    var parts: [Part] = []
    var isEscaped = false
    for scalar in pattern {
      switch scalar {
      case _ where isEscaped:
        parts.append(.scalar(scalar))
        isEscaped = false
      case "\\": isEscaped = true
      case "%": parts.append(.run)
      case "_": parts.append(.one)
      default: parts.append(.scalar(scalar))
      }
    }
    return isEscaped ? nil : parts
  }

  /// Tracks for each position of the text whether the pattern so far can end there.
  private static func matches(_ text: [Unicode.Scalar], _ parts: [Part]) -> Bool {
    var ends = [true] + Array(repeating: false, count: text.count)
    for part in parts {
      var next = Array(repeating: false, count: text.count + 1)
      switch part {
      case .run:
        guard let first = ends.firstIndex(of: true) else { return false }
        for place in first...text.count { next[place] = true }
      case .one: for place in text.indices where ends[place] { next[place + 1] = true }
      case .scalar(let wanted):
        for place in text.indices where ends[place] && text[place] == wanted { next[place + 1] = true }
      }
      ends = next
    }
    return ends[text.count]
  }
}

/// A regular expression and the same condition as Swift code.
struct FuzzPattern: Sendable {
  /// The pattern in the dialect of `matches`.
  let text: String
  /// Whether it matches a text, with a case folding of scalars.
  let isFound: @Sendable ([Unicode.Scalar], (Unicode.Scalar) -> Unicode.Scalar) -> Bool
  /// Whether its case-insensitive meaning is documented.
  var hasCaseInsensitiveForm = true

  /// Patterns that every context rejects.
  static let malformed = ["(", "[a", "\\", "(?=a)", "(a)\\1", "*a", "a)"]

  /// The patterns that the fuzzer uses.
  static let all: [FuzzPattern] = [
    FuzzPattern(text: "") { _, _ in true },
    FuzzPattern(text: "a") { text, fold in text.contains { fold($0) == "a" } },
    FuzzPattern(text: "^a") { text, fold in text.first.map { fold($0) == "a" } ?? false },
    FuzzPattern(text: "b$") { text, fold in text.last.map { fold($0) == "b" } ?? false },
    FuzzPattern(text: "^$") { text, _ in text.isEmpty },
    FuzzPattern(text: "a.") { text, fold in
      zip(text, text.dropFirst()).contains { fold($0) == "a" && $1 != "\n" }
    },
    FuzzPattern(text: "^.{3}$") { text, _ in text.count == 3 && !text.contains("\n") },
    FuzzPattern(text: "(?s)^.$") { text, _ in text.count == 1 },
    FuzzPattern(text: "[0-9]+") { text, _ in text.contains { ("0"..."9").contains($0) } },
    FuzzPattern(text: "\\d$") { text, _ in text.last.map { ("0"..."9").contains($0) } ?? false },
    FuzzPattern(text: "(a|e)b") { text, fold in
      zip(text, text.dropFirst()).contains { (fold($0) == "a" || fold($0) == "e") && fold($1) == "b" }
    },
    FuzzPattern(text: "^[^a]*$", isFound: { text, _ in !text.contains("a") }, hasCaseInsensitiveForm: false),
    FuzzPattern(text: "\\x{e9}") { text, fold in text.contains { fold($0) == "\u{E9}" } },
    FuzzPattern(text: "e\u{301}") { text, fold in
      zip(text, text.dropFirst()).contains { fold($0) == "e" && $1 == "\u{301}" }
    },
    FuzzPattern(text: "a{2,}") { text, fold in
      zip(text, text.dropFirst()).contains { fold($0) == "a" && fold($1) == "a" }
    },
    FuzzPattern(text: "\\x00") { text, _ in text.contains("\0") },
    FuzzPattern(text: "[%_*]") { text, _ in text.contains { $0 == "%" || $0 == "_" || $0 == "*" } },
    FuzzPattern(text: "\\\\") { text, _ in text.contains("\\") },
  ]
}
