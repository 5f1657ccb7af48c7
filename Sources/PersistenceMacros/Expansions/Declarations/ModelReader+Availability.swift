import SwiftSyntax
import SwiftSyntaxMacros

/// The availability of a model.
extension ModelReader {
  /// The `@available` attributes of a model and its enclosing types, the model's own first.
  ///
  /// The extension is outside all of these types and must repeat their attributes. For each platform, the
  /// attribute of the innermost type counts, because it is the strictest.
  func availability(of model: StructDeclSyntax) -> AttributeListSyntax {
    var known: Set<String> = []
    var all: [AttributeListSyntax.Element] = []
    for list in [model.attributes] + enclosingTypes.map(\.attributes) {
      let added = list.availability.filter { element in
        guard case .attribute(let attribute) = element else { return true }
        return !attribute.subjects.isSubset(of: known)
      }
      for case .attribute(let attribute) in added { known.formUnion(attribute.subjects) }
      all += added
    }
    return AttributeListSyntax(all)
  }
}

extension AttributeListSyntax {
  /// The attributes that state availability, also within `#if`.
  fileprivate var availability: [Element] {
    compactMap { element in
      switch element {
      case .attribute(let attribute):
        return attribute.attributeName.trimmedDescription == "available" ? element : nil
      case .ifConfigDecl(let condition):
        var isEmpty = true
        let clauses = condition.clauses.map { clause in
          guard case .attributes(let attributes) = clause.elements else { return clause }
          let kept = attributes.availability
          if !kept.isEmpty { isEmpty = false }
          return clause.with(\.elements, .attributes(AttributeListSyntax(kept)))
        }
        return isEmpty ? nil : .ifConfigDecl(condition.with(\.clauses, IfConfigClauseListSyntax(clauses)))
      }
    }
  }
}

extension AttributeSyntax {
  /// The subjects of an `@available` attribute: platforms and languages, or `*` for all of them.
  fileprivate var subjects: Set<String> {
    guard case .availability(let arguments) = arguments else { return [] }
    var subjects: Set<String> = []
    for argument in arguments {
      switch argument.argument {
      case .availabilityVersionRestriction(let version): subjects.insert(version.platform.text)
      case .token(let token): subjects.insert(token.text)
      case .availabilityLabeledArgument(let label): subjects.insert(label.label.text)
      }
    }
    // `@available(macOS 14, *)` is about macOS; in `@available(*, deprecated)` the star is the subject.
    if subjects.count > 1, arguments.last?.argument.as(TokenSyntax.self)?.text == "*" { subjects.remove("*") }
    return subjects
  }
}
