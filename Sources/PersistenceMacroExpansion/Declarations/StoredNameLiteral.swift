import SwiftSyntax
import SwiftSyntaxBuilder

/// A stored name: what it says, and how it is written.
struct StoredNameLiteral {
  /// The name.
  let value: String

  /// The name as an expression.
  let expression: ExprSyntax

  /// The name of a declaration.
  init(_ name: String) {
    value = name
    expression = ExprSyntax(StringLiteralExprSyntax(content: name))
  }

  /// The name that an argument says; nil where it is anything but one string literal on one line, free of
  /// interpolations and escapes.
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
