import SwiftSyntax

/// The markers that a property of a model may carry.
enum Marker: String, CaseIterable {
  case id = "ID"
  case indexed = "Indexed"
  case unique = "Unique"
  case transient = "Transient"
  case field = "Field"
  case onDelete = "OnDelete"

  /// The marker as source code writes it.
  var spelling: String { "@" + rawValue }
}

extension AttributeSyntax {
  /// The attribute's name without a module prefix.
  var baseName: String {
    attributeName.as(MemberTypeSyntax.self)?.name.text
      ?? attributeName.as(IdentifierTypeSyntax.self)?.name.text ?? attributeName.trimmedDescription
  }

  /// The marker of the attribute; nil for any other attribute.
  var marker: Marker? { Marker(rawValue: baseName) }

  /// The arguments of the attribute, if they are plain expressions.
  var expressions: [LabeledExprSyntax] {
    guard case .argumentList(let list) = arguments else { return [] }
    return Array(list)
  }

  /// The argument without a label, which is the stored name; nil if there is none or it is nil.
  var nameArgument: ExprSyntax? {
    guard let first = expressions.first, first.label == nil, !first.expression.is(NilLiteralExprSyntax.self)
    else { return nil }
    return first.expression
  }

  /// The arguments of a label, of which the first has the label.
  func arguments(labeled label: String) -> [LabeledExprSyntax] {
    let following = expressions.drop { $0.label?.text != label }
    return following.prefix(1) + following.dropFirst().prefix { $0.label == nil }
  }
}
