import SwiftSyntax
import SwiftSyntaxBuilder

/// The extension that makes a model a record: only what an author would write by hand.
///
/// Type names have their module prefix, because an app may have its own `Row`. The positions of fields follow
/// the order of the properties.
struct RecordExtension {
  private let model: ModelDeclaration
  private let type: TypeSyntax
  /// Whether the extension states the conformance, because the declaration does not.
  private let conforms: Bool

  init(_ model: ModelDeclaration, of type: TypeSyntax, conforms: Bool) {
    self.model = model
    self.type = type.trimmed
    self.conforms = conforms
  }

  func syntax() throws -> ExtensionDeclSyntax {
    let conformance = conforms ? ": \(Self.core)PersistentRecord" : ""
    let availability = model.availability.map { $0.trimmedDescription + "\n" }.joined()
    return try ExtensionDeclSyntax("\(raw: availability)nonisolated extension \(type)\(raw: conformance)") {
      schema
      if !model.contexts.isEmpty { supportedContexts }
      if !model.isNested { model.keyType }
      if !isWholeKey { primaryKey }
      initializer
      encoder
    }
  }

  /// The module prefix in the generated code.
  static let core = "PersistenceCore."

  /// The access level and a space, or an empty text.
  private var access: String { model.accessPrefix }

  /// Whether the model has a property named `primaryKey` that is the key.
  private var isWholeKey: Bool { model.key.count == 1 && model.key.first?.name == "primaryKey" }

  private var schema: DeclSyntax {
    let fields = model.properties.map { property in
      let fill = property.fill.map { ", fill: \($0)" } ?? ""
      return "    .field(\(property.storedName.expression), \\.\(property.identifier.text)"
        + "\(Self.past(property.formerNames))\(fill)\(Self.rule(property))),"
    }
    let key = model.key.map { "\\.\($0.identifier.text)" }.joined(separator: ", ")
    let indexes = model.indexes.map { index in
      let paths = index.properties.map { ".property(\\.\($0))" }.joined(separator: ", ")
      return "    \(Self.core)RecordIndex(\(paths)\(index.isUnique ? ", isUnique: true" : "")),"
    }
    var lines = ["  \(model.storedName)\(Self.past(model.formerNames)),", "  fields: ["]
    lines += fields
    lines += ["  ],", "  key: [\(key)]\(indexes.isEmpty ? "" : ",")"]
    if !indexes.isEmpty { lines += ["  indexes: ["] + indexes + ["  ]"] }
    let made = "\(Self.core)RecordSchema<Self>(\n" + lines.joined(separator: "\n") + "\n)"
    guard model.isGeneric else { return "\(raw: access)static let schema = \(raw: made)" }
    return """
      \(raw: access)static var schema: \(raw: Self.core)RecordSchema<Self> {
        \(raw: Self.core)RecordSchema.shared(for: Self.self) {
          \(raw: made.indentedLines(by: 4))
        }
      }
      """
  }

  /// The argument with the delete rule, or an empty text.
  private static func rule(_ property: ModelProperty) -> String {
    property.deleteRule.map { ", onDelete: \($0.trimmedDescription)" } ?? ""
  }

  /// The argument with former names, or an empty text.
  private static func past(_ names: [StoredNameLiteral]) -> String {
    names.isEmpty ? "" : ", was: [" + names.map(\.expression.description).joined(separator: ", ") + "]"
  }

  private var supportedContexts: DeclSyntax {
    let contexts = model.contexts.map(\.description).joined(separator: ", ")
    return """
      \(raw: access)static var supportedContexts: \(raw: Self.core)SupportedContexts {
        .only(\(raw: contexts))
      }
      """
  }

  private var primaryKey: DeclSyntax {
    let values = model.key.map { "self.\($0.identifier.text)" }
    let labelled = zip(model.key, values).map { "\($0.label): \($1)" }
    let value = values.count == 1 ? values[0] : "PrimaryKey(" + labelled.joined(separator: ", ") + ")"
    return """
      \(raw: access)var primaryKey: PrimaryKey {
        \(raw: value)
      }
      """
  }

  /// Decodes all values before it sets the first property.
  ///
  /// If an initializer can throw halfway, the compiler keeps the model in memory and copies it at the end. A
  /// key path determines each value's type, because the extension may not know the type's name.
  private var initializer: DeclSyntax {
    let values = model.properties.enumerated().map { position, property in
      "  let field\(position) = try row.decode(\\Self.\(property.identifier.text), at: \(position))"
    }
    let assignments = model.properties.enumerated().map { position, property in
      "  self.\(property.identifier.text) = field\(position)"
    }
    let lines = values + assignments
    return """
      \(raw: access)init(from row: borrowing \(raw: Self.core)Row) throws {
      \(raw: lines.joined(separator: "\n"))
      }
      """
  }

  private var encoder: DeclSyntax {
    let lines = model.properties.enumerated().map { position, property in
      "  try row.store(self.\(property.identifier.text), at: \(position))"
    }
    return """
      \(raw: access)func encode(into row: \(raw: Self.core)RowBuffer) throws {
      \(raw: lines.joined(separator: "\n"))
      }
      """
  }
}

extension String {
  /// The text with every line but the first indented.
  fileprivate func indentedLines(by width: Int) -> String {
    split(separator: "\n", omittingEmptySubsequences: false)
      .joined(separator: "\n" + String(repeating: " ", count: width))
  }
}
