public import SwiftSyntax
public import SwiftSyntaxMacros

/// `@Transient`: marks a property that is not stored, for `@Persistent` to read.
public protocol TransientExpansion: PeerMacro {}

extension TransientExpansion {
  /// Generates nothing, and diagnoses a marker that no `@Persistent` reads.
  public static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    MarkerPlace.check(.transient, node, on: declaration, in: context)
    return []
  }
}
