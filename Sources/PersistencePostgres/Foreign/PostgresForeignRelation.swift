import Foundation

/// A table or view of another program, as the server's catalog describes it.
struct PostgresForeignRelation: Decodable {
  struct Column: Decodable {
    let name: String
    /// The name of its type, or of the type below its domain.
    let type: String
    let isBuiltIn: Bool
    /// `e` for an enumeration.
    let kind: String
    /// The qualified name of the type, quoted.
    let typeName: String
    /// The type as it was declared, for messages.
    let declared: String
    /// The type's modifier, such as a length; −1 for none.
    let modifier: Int
    let isRequired: Bool
    /// Whether its collation orders by bytes.
    let isBinary: Bool
    let isDeterministic: Bool
    let collation: String?
    let isGenerated: Bool
    /// `a` for an identity that is always generated, `d` for one by default.
    let identity: String
    let `default`: String?
  }

  struct Index: Decodable {
    let name: String
    let isUnique: Bool
    let isPrimary: Bool
    let isValid: Bool
    let isPartial: Bool
    /// Whether the server checks uniqueness with each row, rather than later.
    let isImmediate: Bool
    let nilsCollide: Bool
    let isTree: Bool
    let isDeterministic: Bool
    let definition: String
    /// The columns; nil for an expression.
    let columns: [String?]
  }

  struct Constraint: Decodable {
    let name: String
    /// `c` for a check, `f` for a foreign key, `x` for an exclusion.
    let kind: String
    let definition: String
    let columns: [String]?
    /// The table that a foreign key refers to, if it is in the same schema, and its columns.
    let target: String?
    let targets: [String]?
    let onDelete: String
    let onUpdate: String
  }

  struct Trigger: Decodable {
    let name: String
    let definition: String
  }

  /// `r` for a table, `p` for a partitioned one, `v` and `m` for views, `f` for a table elsewhere.
  let kind: String
  let isReadable: Bool
  /// Whether other tables inherit from it, whose rows have keys of their own.
  let hasChildren: Bool
  let columns: [Column]
  let indexes: [Index]
  let constraints: [Constraint]
  let triggers: [Trigger]

  init(_ text: String) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
  }

  /// Whether it becomes a model only if the configuration names it.
  var isView: Bool { kind == "v" || kind == "m" || kind == "f" }

  /// Whether writing one of its records may change others.
  var hasSideEffects: Bool {
    !triggers.isEmpty
      || constraints.contains {
        $0.kind == "f" && ("cnd".contains($0.onDelete) || "cnd".contains($0.onUpdate))
      }
  }
}
