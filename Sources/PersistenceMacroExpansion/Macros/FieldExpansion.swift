public import SwiftSyntax
public import SwiftSyntaxMacros

/// `@Field`: gives a property a stored name, for `@Persistent` to read.
public protocol FieldExpansion: PeerMacro {}

extension FieldExpansion {
  /// Writes nothing, and says where the marker stands where no `@Persistent` reads it.
  public static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    MarkerPlace.check(.field, node, on: declaration, in: context)
    return []
  }
}
