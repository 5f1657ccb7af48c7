import SwiftSyntax
import SwiftSyntaxMacros

/// `@Unique`: marks a property with a unique index, for `@Persistent` to read.
enum UniqueMacro: PeerMacro {
  /// Writes nothing, and says where the marker stands where no `@Persistent` reads it.
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    MarkerPlace.check(.unique, node, on: declaration, in: context)
    return []
  }
}
