import SwiftSyntax
import SwiftSyntaxMacros

/// `#Index`: declares an index over several properties, for `@Persistent` to read.
enum IndexMacro: DeclarationMacro {
  /// Generates nothing, and diagnoses a declaration that no `@Persistent` reads.
  static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    if !context.isInModel {
      context.diagnose(DeclarationMistake.outsideModel("#Index").at(node))
    }
    return []
  }
}
