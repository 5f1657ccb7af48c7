import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// Reads the declaration of a model and diagnoses all of its mistakes.
///
/// It continues after a mistake, so that one build shows all of them.
final class ModelReader {
  let attribute: AttributeSyntax
  let context: any MacroExpansionContext
  private var hasErrors = false

  init(attribute: AttributeSyntax, context: some MacroExpansionContext) {
    self.attribute = attribute
    self.context = context
  }

  /// The declared model; nil if the declaration has an error, which is already diagnosed.
  func read(_ declaration: some DeclGroupSyntax) -> ModelDeclaration? {
    guard let model = declaration.as(StructDeclSyntax.self) else {
      report(notAStruct(declaration))
      return nil
    }
    checkPlace(of: model)
    let members = readMembers(of: model)
    let properties = members.properties
    checkStoredNames(of: properties)
    let key = readKey(of: model, members)
    let indexes = readIndexes(of: model, members, key: key)
    let name = readStoredName(of: model)
    guard !hasErrors else { return nil }
    return ModelDeclaration(
      storedName: name, access: access(of: model), availability: availability(of: model),
      isGeneric: isGeneric(model), properties: properties, key: key, indexes: indexes, contexts: contexts)
  }

  /// Reports a mistake.
  func report(_ diagnostic: Diagnostic) {
    if diagnostic.diagMessage.severity == .error { hasErrors = true }
    context.diagnose(diagnostic)
  }

  /// Reports a mistake at a node.
  func report(_ mistake: DeclarationMistake, at node: some SyntaxProtocol, fixIts: [FixIt] = []) {
    report(mistake.at(node, fixIts: fixIts))
  }

  private func notAStruct(_ declaration: some DeclGroupSyntax) -> Diagnostic {
    if let model = declaration.as(ClassDeclSyntax.self) {
      let keyword = model.classKeyword.with(\.tokenKind, .keyword(.struct))
      let isPlain = model.inheritanceClause == nil && model.modifiers.allSatisfy { $0.name.text != "final" }
      return DeclarationMistake.classModel(model.name.plainText).at(
        model.classKeyword,
        fixIts: isPlain ? [.replace(model.classKeyword, with: keyword, "make it a struct")] : [])
    }
    if let model = declaration.as(EnumDeclSyntax.self) {
      return DeclarationMistake.enumModel(model.name.plainText).at(model.enumKeyword)
    }
    if let model = declaration.as(ActorDeclSyntax.self) {
      return DeclarationMistake.otherModel("an actor").at(model.actorKeyword)
    }
    if let model = declaration.as(ProtocolDeclSyntax.self) {
      return DeclarationMistake.otherModel("a protocol").at(model.protocolKeyword)
    }
    return DeclarationMistake.otherModel("an extension").at(declaration)
  }

  private func readStoredName(of model: StructDeclSyntax) -> ExprSyntax {
    guard let argument = attribute.expressions.first, argument.label == nil,
      !argument.expression.is(NilLiteralExprSyntax.self)
    else { return typePath(of: model) }
    guard let name = StoredNameLiteral(argument.expression) else {
      report(.modelNameNotLiteral, at: argument.expression)
      return argument.expression
    }
    if name.value.isEmpty { report(.emptyModelName, at: argument.expression) }
    return name.expression
  }

  /// The contexts that the attribute names: the arguments from the label on.
  private var contexts: [ExprSyntax] {
    attribute.expressions.drop { $0.label?.text != "contexts" }.map(\.expression.trimmed)
  }
}
