import SwiftSyntax

/// One stored property of a model, as declared.
struct ModelProperty {
  /// The name as source code writes it, with backticks if needed.
  let identifier: TokenSyntax

  let storedName: StoredNameLiteral

  /// The earlier stored names.
  var formerNames: [StoredNameLiteral] = []

  /// The value of records from before the field, as the generated code writes it; nil if there is none.
  var fill: String?

  /// The type, written or inferred; nil if neither was possible, which is already diagnosed.
  let type: TypeSyntax?

  /// The markers on the declaration, without repetitions.
  let markers: [Marker: AttributeSyntax]

  /// The location of the declaration, for diagnostics.
  let binding: PatternBindingSyntax

  /// The name without backticks.
  var name: String { identifier.plainText }

  /// The name as an argument label, for which few keywords need backticks.
  var label: String {
    let isPlain =
      name.unicodeScalars.allSatisfy { $0 == "_" || $0.properties.isXIDContinue }
      && !["inout", "var", "let", "_"].contains(name)
    return isPlain ? name : identifier.text
  }

  /// The rule of `@OnDelete`; nil if there is none.
  var deleteRule: ExprSyntax? { markers[.onDelete]?.expressions.first?.expression }

  /// The facts that the type's source shows.
  var spelling: TypeSpelling? { type.map(TypeSpelling.init) }

  /// The node for diagnostics about the type.
  var typeNode: Syntax { binding.typeAnnotation.map { Syntax($0.type) } ?? Syntax(binding.pattern) }

  /// The node for diagnostics about the stored name.
  var storedNameNode: Syntax { markers[.field].map(Syntax.init) ?? Syntax(binding.pattern) }
}

extension TokenSyntax {
  /// The identifier without its backticks.
  var plainText: String {
    text.count > 2 && text.hasPrefix("`") && text.hasSuffix("`") ? String(text.dropFirst().dropLast()) : text
  }
}
