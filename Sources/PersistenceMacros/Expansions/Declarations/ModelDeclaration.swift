import SwiftSyntax

/// A struct whose declaration is valid.
struct ModelDeclaration {
  let storedName: ExprSyntax

  /// The earlier stored names.
  let formerNames: [StoredNameLiteral]

  /// The access level of the generated code: `public`, `package`, `fileprivate`, or none for internal.
  let access: String?

  /// The availability of the model, which its extension must repeat.
  let availability: AttributeListSyntax

  /// Whether the model is in another type.
  let isNested: Bool

  /// Whether the type or an enclosing type has, or may have, generic parameters, which rule out stored static
  /// properties.
  let isGeneric: Bool

  /// The stored properties, in the order of their positions in rows.
  let properties: [ModelProperty]

  let key: [ModelProperty]
  let indexes: [ModelIndex]

  /// The contexts that support the model; empty for any.
  let contexts: [ExprSyntax]
}

/// A secondary index of a model.
struct ModelIndex {
  /// The names of the properties as source code writes them, in order.
  let properties: [String]
  let isUnique: Bool

  /// The location of the declaration, for diagnostics.
  let node: Syntax
}
