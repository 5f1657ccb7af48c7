import PersistenceConformance

/// A naive matcher: it computes the set of positions at which each part can end.
indirect enum RegularExpressionOracle {
  case scalar(Unicode.Scalar)
  case dot
  case members([ClosedRange<Unicode.Scalar>], isNegated: Bool)
  case textStart, textEnd, lineStart, lineEnd, boundary, notBoundary
  case sequence([RegularExpressionOracle])
  case choice([RegularExpressionOracle])
  case repetition(RegularExpressionOracle, Int, Int?)

  /// The expression in the dialect's syntax.
  var pattern: String {
    switch self {
    case .scalar(let scalar): Self.escaped(scalar)
    case .dot: "."
    case .members(let ranges, let isNegated):
      "[" + (isNegated ? "^" : "")
        + ranges.map { Self.escaped($0.lowerBound) + "-" + Self.escaped($0.upperBound) }.joined() + "]"
    case .textStart: "^"
    case .textEnd: "$"
    case .lineStart: "(?m:^)"
    case .lineEnd: "(?m:$)"
    case .boundary: #"\b"#
    case .notBoundary: #"\B"#
    case .sequence(let parts): parts.map(\.grouped).joined()
    case .choice(let parts): parts.map(\.grouped).joined(separator: "|")
    case .repetition(let part, 0, nil): part.grouped + "*"
    case .repetition(let part, 1, nil): part.grouped + "+?"
    case .repetition(let part, 0, 1): part.grouped + "?"
    case .repetition(let part, let least, let most):
      part.grouped + "{\(least)" + (most == least ? "" : "," + (most.map(String.init) ?? "")) + "}"
    }
  }

  private var grouped: String {
    switch self {
    case .sequence, .choice, .repetition: "(?:\(pattern))"
    default: pattern
    }
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    #"\x{\#(String(scalar.value, radix: 16))}"#
  }

  /// The end positions of the matches that begin at one of `starts`.
  func ends(from starts: Set<Int>, in text: [Unicode.Scalar]) -> Set<Int> {
    switch self {
    case .scalar(let wanted): return step(starts, text) { $0 == wanted }
    case .dot: return step(starts, text) { $0 != "\n" }
    case .members(let ranges, let isNegated):
      return step(starts, text) { scalar in ranges.contains { $0.contains(scalar) } != isNegated }
    case .textStart: return starts.filter { $0 == 0 }
    case .textEnd: return starts.filter { $0 == text.count }
    case .lineStart: return starts.filter { $0 == 0 || text[$0 - 1] == "\n" }
    case .lineEnd: return starts.filter { $0 == text.count || text[$0] == "\n" }
    case .boundary: return starts.filter { Self.isBoundary($0, text) }
    case .notBoundary: return starts.filter { !Self.isBoundary($0, text) }
    case .sequence(let parts): return parts.reduce(starts) { $1.ends(from: $0, in: text) }
    case .choice(let parts): return parts.reduce(into: []) { $0.formUnion($1.ends(from: starts, in: text)) }
    case .repetition(let part, let least, let most):
      var places = starts
      for _ in 0..<least { places = part.ends(from: places, in: text) }
      var all = places
      for _ in 0..<(most.map { $0 - least } ?? text.count + 1) {
        places = part.ends(from: places, in: text)
        all.formUnion(places)
      }
      return all
    }
  }

  private func step(_ starts: Set<Int>, _ text: [Unicode.Scalar], _ fits: (Unicode.Scalar) -> Bool) -> Set<
    Int
  > {
    Set(starts.filter { $0 < text.count && fits(text[$0]) }.map { $0 + 1 })
  }

  private static func isBoundary(_ place: Int, _ text: [Unicode.Scalar]) -> Bool {
    func isWord(_ index: Int) -> Bool {
      text.indices.contains(index) && text[index].isASCII
        && (text[index].properties.isAlphabetic || text[index].properties.numericType != nil
          || text[index] == "_")
    }
    return isWord(place - 1) != isWord(place)
  }
}

extension RegularExpressionOracle {
  static let alphabet: [Unicode.Scalar] = ["a", "b", "_", "-", "\n", "\0", "é", "\u{301}", "中", "😀"]

  /// A random expression of at most `depth` levels.
  static func random(depth: Int, using random: inout SeededGenerator) -> RegularExpressionOracle {
    func scalar() -> Unicode.Scalar { alphabet[Int.random(in: alphabet.indices, using: &random)] }
    switch Int.random(in: 0..<(depth == 0 ? 10 : 18), using: &random) {
    case 0..<5: return .scalar(scalar())
    case 5: return .dot
    case 6, 7:
      let ranges = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        let (one, other) = (scalar(), scalar())
        return min(one, other)...max(one, other)
      }
      return .members(ranges, isNegated: .random(using: &random))
    case 8: return [.textStart, .textEnd, .lineStart][Int.random(in: 0..<3, using: &random)]
    case 9: return [.lineEnd, .boundary, .notBoundary][Int.random(in: 0..<3, using: &random)]
    case 10..<13: return .sequence(parts(depth, using: &random))
    case 13..<15:
      return .choice(parts(depth, using: &random) + [.random(depth: depth - 1, using: &random)])
    default:
      let least = Int.random(in: 0...2, using: &random)
      let most = Bool.random(using: &random) ? nil : least + Int.random(in: 0...2, using: &random)
      return .repetition(.random(depth: depth - 1, using: &random), least, most)
    }
  }

  private static func parts(_ depth: Int, using random: inout SeededGenerator) -> [RegularExpressionOracle] {
    (0..<Int.random(in: 0...4, using: &random)).map { _ in .random(depth: depth - 1, using: &random) }
  }
}
