import SwiftSyntax
import SwiftSyntaxMacros

/// `@Persistent`: generates the extension that makes a struct a `PersistentRecord`.
///
/// It reads the declaration and reports mistakes. It generates code only if the declaration is valid.
enum PersistentMacro: ExtensionMacro, MemberMacro {
  /// Generates the extension.
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    let reader = ModelReader(attribute: node, context: context)
    guard let model = reader.read(declaration) else { return [] }
    return [try RecordExtension(model, of: TypeSyntax(type), conforms: !protocols.isEmpty).syntax()]
  }

  /// Generates the type of the key of a nested model.
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    // The other expansion reports the mistakes.
    let reader = ModelReader(attribute: node, context: context, isReporting: false)
    guard reader.isNested, let model = reader.read(declaration) else { return [] }
    return [model.keyType]
  }
}
