import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// The path of a model's declaration: its name with those of the types around it.
extension ModelReader {
  /// The model's name with its enclosing types, as in `Library.Book`: its stored name by default.
  ///
  /// The name of a generic type is computed at run time, because two specializations are two models.
  func typePath(of model: StructDeclSyntax) -> ExprSyntax {
    var parts = context.lexicalContext.reversed().compactMap(Self.pathPart)
    parts.append(model.genericParameterClause == nil ? model.name.plainText : #"\(Self.self)"#)
    return "\"\(raw: parts.joined(separator: "."))\""
  }

  private static func pathPart(of node: Syntax) -> String? {
    if let outer = node.as(ExtensionDeclSyntax.self) {
      let type = outer.extendedType.trimmed
      let base = type.as(MemberTypeSyntax.self).map { "\($0.baseType.trimmed)." } ?? ""
      return base + #"\(\#(type).self)"#
    }
    guard let outer = node.asProtocol((any NamedDeclSyntax).self),
      let generic = node.asProtocol((any WithGenericParametersSyntax).self)
    else { return nil }
    return generic.genericParameterClause == nil ? outer.name.plainText : #"\(\#(outer.name.text).self)"#
  }
}
