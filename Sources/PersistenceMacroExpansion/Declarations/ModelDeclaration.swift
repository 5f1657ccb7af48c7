import SwiftSyntax

/// A struct whose declaration has been read and found right.
struct ModelDeclaration {
  /// The name by which stores know the model, as an expression.
  let storedName: ExprSyntax

  /// The access level of what is generated: `public`, `package`, `fileprivate`, or none for internal.
  let access: String?

  /// What says since when and where the model is there, which its extension has to say too.
  let availability: AttributeListSyntax

  /// Whether the type has, or may have, generic parameters of its own or of a type around it, which rules out
  /// stored static properties.
  let isGeneric: Bool

  /// The stored properties, in the order of their positions in rows.
  let properties: [ModelProperty]

  /// The properties of the primary key, in order.
  let key: [ModelProperty]

  /// The secondary indexes.
  let indexes: [ModelIndex]

  /// The contexts that may hold the model; empty for any.
  let contexts: [ExprSyntax]
}

/// A secondary index of a model.
struct ModelIndex {
  /// The names of the properties as code writes them, in order.
  let properties: [String]

  /// Whether it is unique.
  let isUnique: Bool

  /// Where it is declared, for diagnostics.
  let node: Syntax
}
