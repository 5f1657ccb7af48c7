import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// The location of a model's declaration: its access level and enclosing types.
extension ModelReader {
  /// Diagnoses a model that no generated extension could access.
  func checkLocation(of model: StructDeclSyntax) {
    let name = model.name.plainText
    if context.lexicalContext.contains(where: \.isCode) { report(.localModel(name), at: model.name) }
    let outer = enclosingTypes
    if !outer.isEmpty, let modifier = model.modifiers.first(where: { $0.name.text == "private" }) {
      let visible = modifier.with(\.name, modifier.name.with(\.tokenKind, .keyword(.fileprivate)))
      report(
        .privateNestedModel(name), at: modifier,
        fixIts: [.replace(modifier, with: visible, "make it fileprivate")])
    } else if outer.dropLast().contains(where: { type in
      type.modifiers.contains { $0.name.text == "private" }
    }) {
      report(.privateNestedModel(name), at: model.name)
    }
    if model.inheritanceClause?.inheritedTypes.contains(where: { $0.type.is(SuppressedTypeSyntax.self) })
      == true
    {
      report(.noncopyableModel(name), at: model.name)
    }
  }

  /// The types around the model, the innermost first.
  var enclosingTypes: [any DeclGroupSyntax] {
    context.lexicalContext.compactMap { $0.asProtocol((any DeclGroupSyntax).self) }
  }

  /// Whether the model is in another type.
  var isNested: Bool { !enclosingTypes.isEmpty }

  /// The access level that the members of the extension need; nil for internal.
  func access(of model: StructDeclSyntax) -> String? {
    let hidden: Set = ["private", "fileprivate"]
    let own = model.modifiers.map(\.name.text)
    if hidden.isDisjoint(with: own),
      enclosingTypes.contains(where: { !hidden.isDisjoint(with: $0.modifiers.map(\.name.text)) })
    {
      return "fileprivate"  // the model is no more visible than the type around it
    }
    var levels = own.filter(Self.levels.contains)
    if levels.isEmpty, let extended = context.lexicalContext.first?.as(ExtensionDeclSyntax.self) {
      levels = extended.modifiers.map(\.name.text)  // members of a public extension are public
    }
    return levels.first { $0 == "public" || $0 == "package" }
  }

  /// Whether the model or an enclosing type has, or may have, generic parameters.
  func isGeneric(_ model: StructDeclSyntax) -> Bool {
    model.genericParameterClause != nil || isInExtension
      || context.lexicalContext.contains {
        $0.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
      }
  }

  /// Whether the model is nested in an extension, whose type may be generic without showing it.
  var isInExtension: Bool { context.lexicalContext.contains { $0.is(ExtensionDeclSyntax.self) } }

  private static let levels: Set = ["public", "package", "internal", "fileprivate", "private"]
}

extension Syntax {
  /// Whether this is a code block and not a type, so that declarations inside are local.
  fileprivate var isCode: Bool { asProtocol((any DeclGroupSyntax).self) == nil }
}
