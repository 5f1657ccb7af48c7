import SwiftSyntax

/// The markers that a property of a model may carry.
enum Marker: String, CaseIterable {
  case id = "ID"
  case indexed = "Indexed"
  case unique = "Unique"
  case transient = "Transient"
  case field = "Field"

  /// The marker as it is written.
  var spelling: String { "@" + rawValue }
}

extension AttributeSyntax {
  /// The attribute's name without the module that may stand before it.
  var baseName: String {
    attributeName.as(MemberTypeSyntax.self)?.name.text
      ?? attributeName.as(IdentifierTypeSyntax.self)?.name.text ?? attributeName.trimmedDescription
  }

  /// The marker that the attribute is; nil for every other attribute.
  var marker: Marker? { Marker(rawValue: baseName) }

  /// The arguments of the attribute, where they are plain expressions.
  var expressions: [LabeledExprSyntax] {
    guard case .argumentList(let list) = arguments else { return [] }
    return Array(list)
  }
}
