import SwiftSyntax
import SwiftSyntaxBuilder

/// A stored name: its value and its source.
struct StoredNameLiteral {
  let value: String
  let expression: ExprSyntax

  /// Creates the name of a declaration.
  init(_ name: String) {
    value = name
    expression = ExprSyntax(StringLiteralExprSyntax(content: name))
  }

  /// Creates a name that keeps its node, for diagnostics.
  init(_ name: StoredNameLiteral, at node: ExprSyntax) {
    value = name.value
    expression = node
  }

  /// Reads a name from an argument; nil unless it is one string literal on one line, without interpolations
  /// and escapes.
  init?(_ argument: ExprSyntax) {
    guard let literal = argument.as(StringLiteralExprSyntax.self),
      literal.openingQuote.tokenKind == .stringQuote, literal.segments.count <= 1
    else { return nil }
    var value = ""
    if let segment = literal.segments.first {
      guard case .stringSegment(let text) = segment else { return nil }
      value = text.content.text
    }
    guard literal.openingPounds != nil || !value.contains("\\") else { return nil }
    self.value = value
    expression = ExprSyntax(literal.trimmed)
  }
}
