public import SwiftSyntax
public import SwiftSyntaxMacros

/// `@Field`: gives a property a stored name, for `@Persistent` to read.
public protocol FieldExpansion: PeerMacro {}

extension FieldExpansion {
  /// Generates nothing, and diagnoses a marker that no `@Persistent` reads.
  public static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    MarkerPlace.check(.field, node, on: declaration, in: context)
    return []
  }
}
