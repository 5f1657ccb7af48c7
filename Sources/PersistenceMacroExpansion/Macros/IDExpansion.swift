public import SwiftSyntax
public import SwiftSyntaxMacros

/// `@ID`: marks a property of the primary key, for `@Persistent` to read.
public protocol IDExpansion: PeerMacro {}

extension IDExpansion {
  /// Writes nothing, and says where the marker stands where no `@Persistent` reads it.
  public static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    MarkerPlace.check(.id, node, on: declaration, in: context)
    return []
  }
}
