import SwiftSyntax
import SwiftSyntaxMacros

/// Where a marker stands, as its own expansion sees it: what `@Persistent` never gets to read.
///
/// Everything else about a marker is said by `@Persistent`, which sees the whole declaration.
enum MarkerPlace {
  /// Says so where a marker stands outside of a model, or on something that is no property.
  static func check(
    _ marker: Marker, _ node: AttributeSyntax, on declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) {
    if !isInModel(context) {
      context.diagnose(DeclarationMistake.outsideModel(marker.spelling).at(node))
    } else if !declaration.is(VariableDeclSyntax.self) {
      context.diagnose(DeclarationMistake.markerOnNoProperty(marker).at(node))
    }
  }

  /// Whether the innermost declaration around a macro is one that `@Persistent` reads.
  static func isInModel(_ context: some MacroExpansionContext) -> Bool {
    guard let outer = context.lexicalContext.first?.asProtocol((any DeclGroupSyntax).self) else {
      return false
    }
    return outer.attributes.contains { $0.as(AttributeSyntax.self)?.baseName == "Persistent" }
  }
}
