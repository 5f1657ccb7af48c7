import SwiftDiagnostics
import SwiftSyntax

/// What a declaration says of the past of a model and its properties: former names and fills.
extension ModelReader {
  /// Reads the former names and the fill of each property.
  func readPasts(of properties: [ModelProperty], key: [ModelProperty]) -> [ModelProperty] {
    var owners: [[UInt8]: String] = [:]
    return properties.map { property in
      var property = property
      let isKey = key.contains { $0.name == property.name }
      property.formerNames = readFormerNames(of: property, &owners)
      if let attribute = property.markers[.field], let argument = attribute.arguments(labeled: "fill").first {
        property.fill = readFill(argument, of: property, attribute, isKey: isKey)
      } else if !isKey, let value = property.binding.initializer?.value {
        property.fill = defaultFill(value, of: property)
      }
      return property
    }
  }

  /// Reads the former names of the model.
  func readFormerNames(besides name: ExprSyntax) -> [StoredNameLiteral] {
    let arguments = attribute.arguments(labeled: "was")
    var seen: Set<[UInt8]> = []
    return readNames(arguments, in: attribute, besides: StoredNameLiteral(name)?.value) { former, fixIt in
      guard !seen.insert(Array(former.value.utf8)).inserted else { return }
      report(.formerNameTwice(former.value), at: former.expression, fixIts: [fixIt])
    }
  }

  private func readFormerNames(
    of property: ModelProperty, _ owners: inout [[UInt8]: String]
  ) -> [StoredNameLiteral] {
    guard let attribute = property.markers[.field] else { return [] }
    if attribute.expressions.isEmpty {
      let fixIt = removal(of: nil, from: attribute, "remove @Field")
      report(.fieldWithoutArguments, at: attribute, fixIts: [fixIt])
    }
    let arguments = attribute.arguments(labeled: "was")
    return readNames(arguments, in: attribute, besides: property.storedName.value) { former, fixIt in
      guard let other = owners.updateValue(property.name, forKey: Array(former.value.utf8)) else { return }
      let mistake: DeclarationMistake =
        other == property.name
        ? .formerNameTwice(former.value) : .repeatedFormerName(former.value, property.name, other)
      report(mistake, at: former.expression, fixIts: [fixIt])
    }
  }

  private func readNames(
    _ arguments: [LabeledExprSyntax], in attribute: AttributeSyntax, besides present: String?,
    check: (StoredNameLiteral, FixIt) -> Void
  ) -> [StoredNameLiteral] {
    arguments.compactMap { argument in
      guard let name = StoredNameLiteral(argument.expression) else {
        report(.formerNameNotLiteral, at: argument.expression)
        return nil
      }
      let fixIt = removal(of: argument, from: attribute, "remove the name")
      if name.value.isEmpty {
        report(.emptyFormerName, at: argument.expression, fixIts: [fixIt])
      } else if let present, name.value.utf8.elementsEqual(present.utf8) {
        report(.presentFormerName(present), at: argument.expression, fixIts: [fixIt])
      } else {
        check(StoredNameLiteral(name, at: argument.expression), fixIt)
      }
      return name
    }
  }

  private func readFill(
    _ argument: LabeledExprSyntax, of property: ModelProperty, _ attribute: AttributeSyntax, isKey: Bool
  ) -> String? {
    let node = argument.expression
    if isKey {
      let fixIt = removal(of: argument, from: attribute, "remove the fill")
      report(.keyFill(property.name), at: node, fixIts: [fixIt])
      return nil
    }
    switch Fill(node, as: property.spelling) {
    case .constant(let source), .member(let source): return source
    case .null:
      if let spelling = property.spelling, spelling.optionalDepth == 0 {
        report(.nilFill(property.name), at: node)
      }
    case .implicitMember:
      let fixIt = property.spelling.map { spelling in
        let named = DeclReferenceExprSyntax(
          baseName: .identifier(spelling.text + node.trimmedDescription, trailingTrivia: node.trailingTrivia))
        return FixIt.replace(node, with: ExprSyntax(named), "add the type")
      }
      report(.fillWithoutType, at: node, fixIts: [fixIt].compactMap(\.self))
    case .clock: report(.clockFill, at: node)
    case .variable: report(.fillNotConstant, at: node)
    }
    return nil
  }

  /// The fill that a property's default value is; nil if it is none.
  private func defaultFill(_ value: ExprSyntax, of property: ModelProperty) -> String? {
    switch Fill(value, as: property.spelling) {
    case .constant(let source), .implicitMember(let source): source
    case .member(let source): enclosingTypes.isEmpty ? source : nil
    case .null, .clock, .variable: nil
    }
  }

  /// A fix-it that removes an argument, and a marker without any.
  private func removal(
    of argument: LabeledExprSyntax?, from node: AttributeSyntax, _ message: String
  ) -> FixIt {
    var rest = node.expressions
    if let index = rest.firstIndex(where: { $0.id == argument?.id }) {
      let removed = rest.remove(at: index)
      if rest.indices.contains(index), rest[index].label == nil {
        rest[index].label = removed.label
        rest[index].colon = removed.colon
      }
      if let last = rest.indices.last {
        rest[last].trailingComma = nil
        rest[last].trailingTrivia = []
      }
    }
    if rest.isEmpty, node.marker != nil, let variable = node.parent?.parent?.as(VariableDeclSyntax.self) {
      return FixIt(message: Repair(message: message), changes: variable.removing(node).changes)
    }
    var changed = node
    changed.arguments = rest.isEmpty ? nil : .argumentList(LabeledExprListSyntax(rest))
    if rest.isEmpty {
      changed.leftParen = nil
      changed.rightParen = nil
      changed.trailingTrivia = node.trailingTrivia
    }
    return .replace(node, with: changed, message)
  }
}
