import SwiftDiagnostics
import SwiftSyntax

/// The stored properties of a model, one at a time.
extension ModelReader {
  /// Reads a stored property and diagnoses its mistakes.
  func readStored(
    _ identifier: TokenSyntax, _ written: TypeSyntax?, _ markers: [Marker: AttributeSyntax],
    _ binding: PatternBindingSyntax, of variable: VariableDeclSyntax
  ) -> ModelProperty {
    let name = identifier.plainText
    let type = written ?? binding.initializer.flatMap { InferredType.of($0.value) }
    let property = ModelProperty(
      identifier: identifier.trimmed, storedName: storedName(of: name, markers[.field]), type: type,
      markers: markers, binding: binding)
    let transient = variable.adding(.transient)
    if ["Type", "Protocol", "self", "Self"].contains(name) {
      report(.metatypeName(name), at: binding.pattern)
      return property
    }
    if let modifier = variable.modifiers.first(where: { $0.name.text == "lazy" }) {
      report(.lazyProperty(name), at: modifier, fixIts: [transient])
    } else if let modifier = variable.modifiers.first(where: { ["weak", "unowned"].contains($0.name.text) }) {
      report(.reference(name, modifier.name.text), at: modifier, fixIts: [transient])
    } else if let attribute = variable.foreignAttribute {
      report(.wrapper(name, "@" + attribute.baseName), at: attribute, fixIts: [transient])
    } else if variable.bindingSpecifier.tokenKind == .keyword(.let), binding.initializer != nil {
      let keyword = variable.bindingSpecifier
      let changeable = FixIt.replace(
        keyword, with: keyword.with(\.tokenKind, .keyword(.var)), "make it a variable")
      report(.constant(name), at: keyword, fixIts: [changeable, transient])
    } else {
      checkType(of: property, variable)
      checkRule(of: property, variable)
    }
    return property
  }

  /// Diagnoses `@OnDelete` on what is no reference, and `.setNil` on what cannot be nil.
  private func checkRule(of property: ModelProperty, _ variable: VariableDeclSyntax) {
    guard let attribute = property.markers[.onDelete], let spelling = property.spelling else { return }
    if spelling.isNoReference {
      report(.ruleOnNoReference(property.name), at: attribute, fixIts: [variable.removing(attribute)])
    } else if spelling.referenceTarget != nil, spelling.optionalDepth == 0,
      property.deleteRule?.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "setNil"
    {
      let fixIt = property.binding.typeAnnotation.map { annotation in
        FixIt.replace(
          annotation.type, with: annotation.type.rewritten(spelling.text + "?"), "make it optional")
      }
      report(.ruleOnRequired(property.name), at: attribute, fixIts: [fixIt].compactMap(\.self))
    }
  }

  private func storedName(of name: String, _ attribute: AttributeSyntax?) -> StoredNameLiteral {
    guard let argument = attribute?.nameArgument else { return StoredNameLiteral(name) }
    guard let literal = StoredNameLiteral(argument) else {
      report(.fieldNameNotLiteral, at: argument)
      return StoredNameLiteral(name)
    }
    if literal.value.isEmpty { report(.emptyFieldName, at: argument) }
    return literal
  }
}
