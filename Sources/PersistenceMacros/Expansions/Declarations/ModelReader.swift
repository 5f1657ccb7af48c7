import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// Reads the declaration of a model and diagnoses all of its mistakes.
///
/// It continues after a mistake, so that one build shows all of them.
final class ModelReader {
  let attribute: AttributeSyntax
  let context: any MacroExpansionContext
  /// Whether mistakes are shown.
  private let isReporting: Bool
  private var hasErrors = false

  init(attribute: AttributeSyntax, context: some MacroExpansionContext, isReporting: Bool = true) {
    self.attribute = attribute
    self.context = context
    self.isReporting = isReporting
  }

  /// The declared model; nil if the declaration has an error, which is already diagnosed.
  func read(_ declaration: some DeclGroupSyntax) -> ModelDeclaration? {
    guard let model = declaration.as(StructDeclSyntax.self) else {
      reportNotAStruct(declaration)
      return nil
    }
    checkLocation(of: model)
    let members = readMembers(of: model)
    checkStoredNames(of: members.properties)
    let key = readKey(of: model, members)
    let properties = readPasts(of: members.properties, key: key)
    let indexes = readIndexes(of: model, members, key: key)
    let name = readStoredName(of: model)
    let formerNames = readFormerNames(besides: name)
    guard !hasErrors else { return nil }
    return ModelDeclaration(
      storedName: name, formerNames: formerNames, access: access(of: model),
      availability: availability(of: model), isNested: isNested,
      isGeneric: isGeneric(model), properties: properties, key: key, indexes: indexes, contexts: contexts)
  }

  /// Reports a mistake at a node.
  func report(_ mistake: DeclarationMistake, at node: some SyntaxProtocol, fixIts: [FixIt] = []) {
    if mistake.severity == .error { hasErrors = true }
    if isReporting { context.diagnose(mistake.at(node, fixIts: fixIts)) }
  }

  private func reportNotAStruct(_ declaration: some DeclGroupSyntax) {
    if let model = declaration.as(ClassDeclSyntax.self) {
      let keyword = model.classKeyword.with(\.tokenKind, .keyword(.struct))
      let isPlain = model.inheritanceClause == nil && model.modifiers.allSatisfy { $0.name.text != "final" }
      report(
        .classModel(model.name.plainText), at: model.classKeyword,
        fixIts: isPlain ? [.replace(model.classKeyword, with: keyword, "make it a struct")] : [])
    } else if let model = declaration.as(EnumDeclSyntax.self) {
      report(.enumModel, at: model.enumKeyword)
    } else if let model = declaration.as(ActorDeclSyntax.self) {
      report(.otherModel("an actor"), at: model.actorKeyword)
    } else if let model = declaration.as(ProtocolDeclSyntax.self) {
      report(.otherModel("a protocol"), at: model.protocolKeyword)
    } else {
      report(.otherModel("an extension"), at: declaration)
    }
  }

  private func readStoredName(of model: StructDeclSyntax) -> ExprSyntax {
    guard let argument = attribute.nameArgument else { return typePath(of: model) }
    guard let name = StoredNameLiteral(argument) else {
      report(.modelNameNotLiteral, at: argument)
      return argument
    }
    if name.value.isEmpty { report(.emptyModelName, at: argument) }
    return name.expression
  }

  /// The contexts that the attribute names: the arguments from the label on.
  private var contexts: [ExprSyntax] {
    attribute.arguments(labeled: "contexts").map(\.expression.trimmed)
  }
}
