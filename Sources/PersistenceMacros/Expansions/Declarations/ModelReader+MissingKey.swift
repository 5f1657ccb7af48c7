import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// A model without a primary key.
extension ModelReader {
  func reportNoKey(of model: StructDeclSyntax, _ members: ModelMembers) {
    if model.hasMarkedUnstoredKey { return }  // already diagnosed
    if let taken = members.unstored.first(where: { $0.name == "id" }) {
      report(taken.isStatic ? .staticKey("id") : .computedKey("id"), at: taken.node)
      return
    }
    report(.noKey(model.name.plainText), at: model.name, fixIts: keys(for: model, members))
  }

  /// Fix-its for a missing key: mark a property with a key type, or add a new one.
  private func keys(for model: StructDeclSyntax, _ members: ModelMembers) -> [FixIt] {
    var fixIts: [FixIt] = []
    for member in model.memberBlock.members {
      guard let variable = member.decl.as(VariableDeclSyntax.self), variable.bindings.count == 1,
        let property = members.properties.first(where: { $0.binding.id == variable.bindings.first?.id }),
        let spelling = property.spelling, spelling.optionalDepth == 0,
        ["Int", "Int64", "String", "UUID"].contains(spelling.name)
      else { continue }
      let marked = variable.adding(.id)
      fixIts.append(
        FixIt(message: Repair(message: "make '\(property.name)' the key"), changes: marked.changes))
    }
    let members = model.memberBlock.members
    var added = MemberBlockItemSyntax(decl: DeclSyntax("var id: UUID"))
    added.leadingTrivia = members.first?.leadingTrivia ?? .newline
    let extended = MemberBlockItemListSyntax([added] + Array(members))
    fixIts.append(.replace(members, with: extended, "add a key"))
    return fixIts
  }
}

extension StructDeclSyntax {
  /// Whether a computed or static property is marked as the key.
  fileprivate var hasMarkedUnstoredKey: Bool {
    memberBlock.members.contains { member in
      guard let variable = member.decl.as(VariableDeclSyntax.self) else { return false }
      return variable.attributes.contains { $0.as(AttributeSyntax.self)?.marker == .id }
    }
  }
}
