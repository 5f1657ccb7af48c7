import SwiftSyntax
import SwiftSyntaxBuilder

/// A stored name: its value and its source.
struct StoredNameLiteral {
  /// The name.
  let value: String

  /// The name as an expression.
  let expression: ExprSyntax

  /// Creates the name of a declaration.
  init(_ name: String) {
    value = name
    expression = ExprSyntax(StringLiteralExprSyntax(content: name))
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
