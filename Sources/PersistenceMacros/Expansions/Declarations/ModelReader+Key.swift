import SwiftDiagnostics
import SwiftSyntax

/// The primary key of a model.
extension ModelReader {
  /// Finds the key properties: the marked ones, or the one named `id`.
  func readKey(of model: StructDeclSyntax, _ members: ModelMembers) -> [ModelProperty] {
    var key = members.properties.filter { $0.markers[.id] != nil }
    if key.isEmpty { key = members.properties.filter { $0.name == "id" } }
    if key.isEmpty { reportNoKey(of: model, members) }
    for property in key { check(property) }
    checkName(of: key, members)
    if key.count == 1, let only = key.first { checkRedundancy(of: only) }
    return key
  }

  private func check(_ property: ModelProperty) {
    guard let spelling = property.spelling, spelling.refusal == nil else { return }  // already diagnosed
    let annotation = property.binding.typeAnnotation?.type
    if spelling.optionalDepth > 0 {
      let fixIt = annotation.map {
        FixIt.replace($0, with: $0.rewritten(spelling.text), "remove the optional")
      }
      report(.optionalKey(property.name), at: property.typeNode, fixIts: [fixIt].compactMap(\.self))
    }
    if let reason = spelling.keyRefusal {
      let fixIt = annotation.flatMap { type in
        spelling.keyReplacement.map { FixIt.replace(type, with: type.rewritten($0), "make it \($0)") }
      }
      report(.keyType(property.name, reason), at: property.typeNode, fixIts: [fixIt].compactMap(\.self))
    }
  }

  /// The generated property must not collide with one of the same name, unless that one is the whole key.
  private func checkName(of key: [ModelProperty], _ members: ModelMembers) {
    let isWholeKey = key.count == 1 && key.first?.name == "primaryKey"
    for property in members.properties where property.name == "primaryKey" && !isWholeKey {
      report(.reservedName("primaryKey"), at: property.binding.pattern)
    }
    for property in members.unstored where property.name == "primaryKey" && !property.isStatic {
      report(.reservedName("primaryKey"), at: property.node)
    }
  }

  private func checkRedundancy(of key: ModelProperty) {
    guard let variable = key.binding.parent?.parent?.as(VariableDeclSyntax.self) else { return }
    for marker in [Marker.indexed, .unique] {
      guard let attribute = key.markers[marker] else { continue }
      report(
        .redundantKeyIndex(marker, key.name), at: attribute, fixIts: [variable.removing(attribute)])
    }
  }
}
