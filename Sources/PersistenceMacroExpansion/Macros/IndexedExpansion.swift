public import SwiftSyntax
public import SwiftSyntaxMacros

/// `@Indexed`: marks a property with an index, for `@Persistent` to read.
public protocol IndexedExpansion: PeerMacro {}

extension IndexedExpansion {
  /// Generates nothing, and diagnoses a marker that no `@Persistent` reads.
  public static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    MarkerPlace.check(.indexed, node, on: declaration, in: context)
    return []
  }
}
