/// The meaning of a regular expression, as a tree.
indirect enum RegularExpressionSyntax: Equatable, Sendable {
  /// An assertion about the position between two scalars.
  enum Assertion: UInt8, Sendable {
    case textStart, textEnd, lineStart, lineEnd, wordBoundary, notWordBoundary
  }

  /// Matches the empty text.
  case empty
  /// Matches one scalar out of a set.
  case scalar(ScalarSet)
  case assertion(Assertion)
  case sequence([RegularExpressionSyntax])
  case choice([RegularExpressionSyntax])
  /// Matches from `least` to `most` times; nil means no limit.
  case repetition(RegularExpressionSyntax, least: Int, most: Int?)

  /// A sequence in its simplest form.
  static func joined(_ nodes: [RegularExpressionSyntax]) -> RegularExpressionSyntax {
    let parts = nodes.filter { $0 != .empty }
    return parts.count == 1 ? parts[0] : (parts.isEmpty ? .empty : .sequence(parts))
  }

  /// A repetition in its simplest form: repeating the empty text matches the empty text.
  static func repeated(_ node: RegularExpressionSyntax, least: Int, most: Int?) -> RegularExpressionSyntax {
    if node == .empty || most == 0 { return .empty }
    return least == 1 && most == 1 ? node : .repetition(node, least: least, most: most)
  }

  /// Whether all matches begin at the start of the text.
  var isAnchoredAtStart: Bool {
    switch self {
    case .assertion(let assertion): assertion == .textStart
    case .sequence(let nodes): nodes.first?.isAnchoredAtStart ?? false
    case .choice(let nodes): nodes.allSatisfy(\.isAnchoredAtStart)
    case .repetition(let node, let least, _): least > 0 && node.isAnchoredAtStart
    case .empty, .scalar: false
    }
  }
}
