import SwiftDiagnostics
import SwiftSyntax

/// The types of stored properties.
extension ModelReader {
  func checkType(of property: ModelProperty, _ variable: VariableDeclSyntax) {
    let name = property.name
    guard let spelling = property.spelling else {
      report(.needsType(name), at: property.binding.pattern, fixIts: [annotation(of: property)])
      return
    }
    switch spelling.refusal {
    case nil: return
    case .unsigned(let type, let signed):
      let core = spelling.core.trimmedDescription
      let fixIt = property.binding.typeAnnotation.map { annotation in
        let text = annotation.type.trimmedDescription.replacing(core, with: signed)
        return FixIt.replace(
          annotation.type, with: annotation.type.rewritten(text), "make it \(signed)")
      }
      report(.unsigned(name, type), at: property.typeNode, fixIts: [fixIt].compactMap(\.self))
    case .nestedOptional:
      let fixIt = property.binding.typeAnnotation.map { annotation in
        FixIt.replace(
          annotation.type, with: annotation.type.rewritten(spelling.text + "?"), "make it one optional")
      }
      report(.nestedOptional(name), at: property.typeNode, fixIts: [fixIt].compactMap(\.self))
    case .other(let reason):
      let hasValue = property.binding.initializer != nil || variable.isImplicitlyNil(property.binding)
      report(
        .unstorable(name, reason), at: property.typeNode,
        fixIts: hasValue ? [variable.adding(.transient)] : [])
    }
  }

  private func annotation(of property: ModelProperty) -> FixIt {
    let binding = property.binding
    let guess = binding.initializer.flatMap { InferredType.guess($0.value) } ?? "<#Type#>"
    let annotation = TypeAnnotationSyntax(
      colon: .colonToken(trailingTrivia: .space),
      type: IdentifierTypeSyntax(name: .identifier(guess), trailingTrivia: binding.pattern.trailingTrivia))
    let annotated = binding.with(\.pattern.trailingTrivia, []).with(\.typeAnnotation, annotation)
    return .replace(binding, with: annotated, "add a type annotation")
  }
}

extension TypeSyntax {
  /// Replaces a type, and keeps its trivia.
  func rewritten(_ text: String) -> TypeSyntax {
    TypeSyntax(
      IdentifierTypeSyntax(
        leadingTrivia: leadingTrivia, name: .identifier(text), trailingTrivia: trailingTrivia))
  }
}
