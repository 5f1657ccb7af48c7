import SwiftDiagnostics
import SwiftSyntax

/// The relevant members of a model.
struct ModelMembers {
  /// The stored properties.
  var properties: [ModelProperty] = []

  /// Computed or static properties by name, which a user may have mistaken for stored ones.
  var unstored: [(name: String, node: Syntax, isStatic: Bool)] = []

  var indexes: [MacroExpansionDeclSyntax] = []
}

/// The members of a model.
extension ModelReader {
  /// Reads all members, in order.
  func readMembers(of model: StructDeclSyntax) -> ModelMembers {
    var members = ModelMembers()
    for member in model.memberBlock.members {
      let declaration = member.decl
      if let variable = declaration.as(VariableDeclSyntax.self) {
        read(variable, into: &members)
      } else if let macro = declaration.as(MacroExpansionDeclSyntax.self), macro.macroName.text == "Index" {
        members.indexes.append(macro)
      } else if let condition = declaration.as(IfConfigDeclSyntax.self), holdsStoredMembers(condition) {
        report(.conditionalMember, at: condition.clauses.first?.poundKeyword ?? condition.poundEndif)
      } else if let named = declaration.asProtocol((any NamedDeclSyntax).self),
        named.name.text == "PrimaryKey"
      {
        report(.reservedName("PrimaryKey"), at: named.name)
      }
    }
    return members
  }

  /// Diagnoses two properties with the same stored name, compared byte for byte.
  func checkStoredNames(of properties: [ModelProperty]) {
    var seen: [[UInt8]: String] = [:]
    for property in properties {
      let stored = property.storedName.value
      if let other = seen.updateValue(property.name, forKey: Array(stored.utf8)) {
        report(.repeatedStoredName(stored, property.name, other), at: property.storedNameNode)
      }
    }
  }

  private func read(_ variable: VariableDeclSyntax, into members: inout ModelMembers) {
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

  private func holdsStoredMembers(_ condition: IfConfigDeclSyntax) -> Bool {
    condition.clauses.contains { clause in
      guard case .decls(let members) = clause.elements else { return false }
      return members.contains { member in
        if let nested = member.decl.as(IfConfigDeclSyntax.self) { return holdsStoredMembers(nested) }
        if let macro = member.decl.as(MacroExpansionDeclSyntax.self) {
          return macro.macroName.text == "Index"
        }
        guard let variable = member.decl.as(VariableDeclSyntax.self) else { return false }
        return variable.bindings.contains { !$0.isComputed }
          && !variable.modifiers.contains { $0.name.text == "static" }
          && !variable.attributes.contains { $0.as(AttributeSyntax.self)?.marker == .transient }
      }
    }
  }
}
