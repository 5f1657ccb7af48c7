import SwiftDiagnostics
import SwiftSyntax

/// The variables of a model, and their markers.
extension ModelReader {
  func read(_ variable: VariableDeclSyntax, into members: inout ModelMembers) {
    let markers = readMarkers(of: variable)
    let isStatic = variable.modifiers.contains { ["static", "class"].contains($0.name.text) }
    for (binding, type) in variable.typedBindings {
      guard let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
        if !isStatic, markers[.transient] == nil { report(.tuplePattern, at: binding.pattern) }
        continue
      }
      let name = identifier.plainText
      checkReserved(name, isStatic: isStatic, at: identifier)
      if isStatic || binding.isComputed {
        members.unstored.append((name, Syntax(identifier), isStatic))
        for marker in Marker.allCases where marker != .id {
          guard let attribute = markers[marker] else { continue }
          let mistake: DeclarationMistake =
            isStatic ? .markerOnStatic(marker, name) : .markerOnComputed(marker, name)
          report(mistake, at: attribute, fixIts: [variable.removing(attribute)])
        }
        if let attribute = markers[.id] {
          report(isStatic ? .staticKey(name) : .computedKey(name), at: attribute)
        }
      } else if markers[.transient] != nil {
        checkTransient(name, markers, binding, of: variable)
      } else {
        members.properties.append(readStored(identifier, type, markers, binding, of: variable))
      }
    }
  }

  /// The markers on a declaration; diagnoses a repeated one.
  private func readMarkers(of variable: VariableDeclSyntax) -> [Marker: AttributeSyntax] {
    var markers: [Marker: AttributeSyntax] = [:]
    for case .attribute(let attribute) in variable.attributes {
      guard let marker = attribute.marker else { continue }
      if markers[marker] == nil {
        markers[marker] = attribute
      } else {
        let name = variable.bindings.first?.pattern.trimmedDescription ?? ""
        report(.repeatedMarker(marker, name), at: attribute, fixIts: [variable.removing(attribute)])
      }
    }
    return markers
  }

  private func checkReserved(_ name: String, isStatic: Bool, at node: TokenSyntax) {
    let isNamed = attribute.expressions.contains { $0.label?.text == "contexts" }
    let reserved = isStatic && (name == "schema" || (name == "supportedContexts" && isNamed))
    if reserved { report(.reservedName(name), at: node) }
  }

  private func checkTransient(
    _ name: String, _ markers: [Marker: AttributeSyntax], _ binding: PatternBindingSyntax,
    of variable: VariableDeclSyntax
  ) {
    for marker in Marker.allCases where marker != .transient {
      guard let attribute = markers[marker] else { continue }
      report(.markerOnTransient(marker, name), at: attribute, fixIts: [variable.removing(attribute)])
    }
    guard binding.initializer == nil, !variable.isImplicitlyNil(binding), variable.foreignAttribute == nil
    else { return }
    let value = InitializerClauseSyntax(
      equal: .equalToken(leadingTrivia: .space, trailingTrivia: .space),
      value: EditorPlaceholderExprSyntax(placeholder: .identifier("<#value#>")))
    report(
      .transientWithoutValue(name), at: binding.pattern,
      fixIts: [.replace(binding, with: binding.with(\.initializer, value), "give it a value")])
  }
}
