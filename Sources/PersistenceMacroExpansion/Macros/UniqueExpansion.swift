public import SwiftSyntax
public import SwiftSyntaxMacros

/// `@Unique`: marks a property with a unique index, for `@Persistent` to read.
public protocol UniqueExpansion: PeerMacro {}

extension UniqueExpansion {
  /// Generates nothing, and diagnoses a marker that no `@Persistent` reads.
  public static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    MarkerPlace.check(.unique, node, on: declaration, in: context)
    return []
  }
}
