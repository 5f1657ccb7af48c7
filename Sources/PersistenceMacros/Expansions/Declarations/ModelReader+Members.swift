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
