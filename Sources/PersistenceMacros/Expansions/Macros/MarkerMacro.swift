import SwiftSyntax
import SwiftSyntaxMacros

/// A marker, such as `@ID`: marks a property for `@Persistent` to read.
protocol MarkerMacro: PeerMacro {}

enum IDMacro: MarkerMacro {}
enum IndexedMacro: MarkerMacro {}
enum UniqueMacro: MarkerMacro {}
enum TransientMacro: MarkerMacro {}
enum FieldMacro: MarkerMacro {}
enum OnDeleteMacro: MarkerMacro {}

extension MarkerMacro {
  /// Generates nothing, and diagnoses a marker outside a model or on a declaration that is not a property.
  ///
  /// `@Persistent` makes all other checks of markers, because it sees the whole declaration.
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let marker = node.marker else { return [] }
    if !context.isInModel {
      context.diagnose(DeclarationMistake.outsideModel(marker.spelling).at(node))
    } else if !declaration.is(VariableDeclSyntax.self) {
      context.diagnose(DeclarationMistake.markerOnNoProperty(marker).at(node))
    }
    return []
  }
}

extension MacroExpansionContext {
  /// Whether `@Persistent` reads the innermost declaration around a macro.
  var isInModel: Bool {
    lexicalContext.first?.asProtocol((any DeclGroupSyntax).self)?.attributes.contains {
      $0.as(AttributeSyntax.self)?.baseName == "Persistent"
    } ?? false
  }
}
