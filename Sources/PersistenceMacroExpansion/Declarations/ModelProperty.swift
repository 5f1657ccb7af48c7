import SwiftSyntax

/// One stored property of a model, as its declaration says.
struct ModelProperty {
  /// The name as code writes it, with the backticks that it may need.
  let identifier: TokenSyntax

  /// The name by which stores know it.
  let storedName: StoredNameLiteral

  /// The type, written or inferred; nil where neither was possible, which has been said.
  let type: TypeSyntax?

  /// The markers on the declaration; of several alike, the first.
  let markers: [Marker: AttributeSyntax]

  /// Where the property is declared, for diagnostics.
  let binding: PatternBindingSyntax

  /// The name without backticks.
  var name: String { identifier.plainText }

  /// The name as an argument's label, where few keywords need backticks.
  var label: String {
    let isPlain =
      name.unicodeScalars.allSatisfy { $0 == "_" || $0.properties.isXIDContinue }
      && !["inout", "var", "let", "_"].contains(name)
    return isPlain ? name : identifier.text
  }

  /// What the type's spelling gives away.
  var spelling: TypeSpelling? { type.map(TypeSpelling.init) }

  /// The node that a diagnostic about the type points at.
  var typeNode: Syntax { binding.typeAnnotation.map { Syntax($0.type) } ?? Syntax(binding.pattern) }

  /// The node that a diagnostic about the stored name points at.
  var storedNameNode: Syntax { markers[.field].map(Syntax.init) ?? Syntax(binding.pattern) }
}

extension TokenSyntax {
  /// The text without the backticks that make it an identifier.
  var plainText: String {
    text.count > 2 && text.hasPrefix("`") && text.hasSuffix("`") ? String(text.dropFirst().dropLast()) : text
  }
}
