import SwiftSyntax
import SwiftSyntaxMacros

/// The checks of a marker's own expansion, for markers that `@Persistent` does not read.
///
/// `@Persistent` makes all other checks of markers, because it sees the whole declaration.
enum MarkerPlace {
  /// Diagnoses a marker outside a model, or on a declaration that is not a property.
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

  /// Whether `@Persistent` reads the innermost declaration around a macro.
  static func isInModel(_ context: some MacroExpansionContext) -> Bool {
    guard let outer = context.lexicalContext.first?.asProtocol((any DeclGroupSyntax).self) else {
      return false
    }
    return outer.attributes.contains { $0.as(AttributeSyntax.self)?.baseName == "Persistent" }
  }
}
