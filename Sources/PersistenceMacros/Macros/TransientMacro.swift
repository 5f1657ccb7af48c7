import SwiftSyntax
import SwiftSyntaxMacros

/// `@Transient`: marks a property that is not stored, for `@Persistent` to read.
enum TransientMacro: PeerMacro {
  /// Writes nothing, and says where the marker stands where no `@Persistent` reads it.
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    MarkerPlace.check(.transient, node, on: declaration, in: context)
    return []
  }
}
