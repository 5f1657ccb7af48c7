public import SwiftSyntax
public import SwiftSyntaxMacros

/// `@ID`: marks a property of the primary key, for `@Persistent` to read.
public protocol IDExpansion: PeerMacro {}

extension IDExpansion {
  /// Generates nothing, and diagnoses a marker that no `@Persistent` reads.
  public static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    MarkerPlace.check(.id, node, on: declaration, in: context)
    return []
  }
}
