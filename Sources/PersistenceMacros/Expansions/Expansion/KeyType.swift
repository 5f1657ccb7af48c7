import SwiftSyntax
import SwiftSyntaxBuilder

/// The type of a model's key.
extension ModelDeclaration {
  /// The access level and a space, or an empty text.
  var accessPrefix: String { access.map { $0 + " " } ?? "" }

  /// The extension is not isolated; a nested model may be.
  private var isolation: String { isNested ? "nonisolated " : "" }

  /// The declaration of the key's type.
  ///
  /// It is a member of a nested model, whose extension does not see the types beside the model, and of the extension
  /// otherwise.
  var keyType: DeclSyntax {
    guard key.count > 1 else {
      return "\(raw: accessPrefix)typealias PrimaryKey = \(key.first?.type ?? "Never")"
    }
    let parts = key.compactMap { part in
      part.type.map { (name: part.identifier.text, label: part.label, type: $0.trimmedDescription) }
    }
    let properties = parts.map { "  \(accessPrefix)var \($0.name): \($0.type)" }
    let parameters = parts.map { "\($0.label): \($0.type)" }.joined(separator: ", ")
    let assignments = parts.map { "    self.\($0.name) = \($0.name)" }
    let values = parts.map { "self.\($0.name).keyValues" }.joined(separator: " + ")
    return """
      \(raw: accessPrefix)\(raw: isolation)struct PrimaryKey: \(raw: RecordExtension.core)PersistentKey {
      \(raw: properties.joined(separator: "\n"))
        \(raw: accessPrefix)init(\(raw: parameters)) {
      \(raw: assignments.joined(separator: "\n"))
        }
        \(raw: accessPrefix)var keyValues: [\(raw: RecordExtension.core)PersistentValue] {
          \(raw: values)
        }
      }
      """
  }
}
