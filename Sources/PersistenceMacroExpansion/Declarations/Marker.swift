import SwiftSyntax

/// The markers that a property of a model may carry.
enum Marker: String, CaseIterable {
  case id = "ID"
  case indexed = "Indexed"
  case unique = "Unique"
  case transient = "Transient"
  case field = "Field"

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
}
