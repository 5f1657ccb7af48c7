import SwiftDiagnostics
import SwiftSyntax

/// The indexes of a model: those of marked properties first, then those declared with `#Index`.
extension ModelReader {
  /// Reads all indexes.
  ///
  /// Of two indexes over the same properties, the unique one is kept.
  func readIndexes(of model: StructDeclSyntax, _ members: ModelMembers, key: [ModelProperty]) -> [ModelIndex]
  {
    var indexes: [ModelIndex] = []
    for property in members.properties {
      if key.count == 1, key.first?.name == property.name { continue }  // the key is already indexed
      for marker in [Marker.unique, .indexed] {
        guard let attribute = property.markers[marker] else { continue }
        check(property, at: attribute)
        let index = ModelIndex(
          properties: [property.identifier.text], isUnique: marker == .unique, node: Syntax(attribute))
        add(index, to: &indexes)
      }
    }
    for declaration in members.indexes {
      if let index = read(declaration, of: model, members.properties) { add(index, to: &indexes) }
    }
    return indexes
  }

  private func add(_ index: ModelIndex, to indexes: inout [ModelIndex]) {
    guard let same = indexes.firstIndex(where: { $0.properties == index.properties }) else {
      indexes.append(index)
      return
    }
    report(.repeatedIndex, at: index.node)
    if index.isUnique { indexes[same] = index }
  }

  private func check(_ property: ModelProperty, at node: some SyntaxProtocol) {
    guard let spelling = property.spelling, spelling.isDocument else { return }
    report(.indexedDocument(property.name, spelling.text), at: node)
  }

  private func read(
    _ declaration: MacroExpansionDeclSyntax, of model: StructDeclSyntax, _ properties: [ModelProperty]
  ) -> ModelIndex? {
    if case .type(let root)? = declaration.genericArgumentClause?.arguments.first?.argument {
      checkRoot(root, of: model)
    }
    var isUnique = false
    if let argument = declaration.arguments.first(where: { $0.label?.text == "unique" }) {
      guard let literal = argument.expression.as(BooleanLiteralExprSyntax.self) else {
        report(.uniquenessNotLiteral, at: argument.expression)
        return nil
      }
      isUnique = literal.literal.tokenKind == .keyword(.true)
    }
    guard let argument = declaration.arguments.first, argument.label == nil,
      let paths = argument.expression.as(ArrayExprSyntax.self)
    else {
      report(.indexNotLiteral, at: declaration.arguments.first.map(Syntax.init) ?? Syntax(declaration))
      return nil
    }
    var names: [String] = []
    for element in paths.elements {
      guard let property = property(at: element.expression, of: model, properties) else { continue }
      if names.contains(property.identifier.text) {
        report(.indexedTwice(property.name), at: element.expression)
      }
      names.append(property.identifier.text)
    }
    if paths.elements.isEmpty { report(.emptyIndex, at: paths) }
    return names.count == paths.elements.count && !names.isEmpty
      ? ModelIndex(properties: names, isUnique: isUnique, node: Syntax(declaration)) : nil
  }

  private func property(
    at expression: ExprSyntax, of model: StructDeclSyntax, _ properties: [ModelProperty]
  ) -> ModelProperty? {
    guard let path = expression.as(KeyPathExprSyntax.self), let first = path.components.first,
      case .property(let component) = first.component
    else {
      report(.indexNotLiteral, at: expression)
      return nil
    }
    if let root = path.root { checkRoot(root, of: model) }
    guard path.components.count == 1 else {
      report(.indexedPath(path.trimmedDescription), at: path)
      return nil
    }
    let name = component.declName.baseName.plainText
    guard let property = properties.first(where: { $0.name == name }) else {
      report(.indexedUnknown(name, model.name.plainText), at: path)
      return nil
    }
    check(property, at: path)
    return property
  }

  private func checkRoot(_ root: TypeSyntax, of model: StructDeclSyntax) {
    let name = root.as(IdentifierTypeSyntax.self)?.name ?? root.as(MemberTypeSyntax.self)?.name
    guard name?.text != model.name.text, name?.text != "Self" else { return }
    report(.indexRoot(root.trimmedDescription, model.name.plainText), at: root)
  }
}
