import Foundation
import PersistencePrimitives

/// One difference between a declaration and a store that code must settle with a word (contract S7).
public struct SchemaDifference: Sendable, Hashable {
  /// What differs.
  public enum Kind: Sendable, Hashable {
    /// The store lacks a required field, for which the declaration has no fill.
    case missing
    /// The field is optional in the store and required in the declaration.
    case optional
    /// The field is required in the store, which was changed so, and optional in the declaration.
    case required
    /// The store's field has a kind whose values the declared kind does not include.
    case kind(FieldSchema)
    /// The store has renamed the field; its name now.
    case renamed(String)
    /// The store has removed the field.
    case removed
    /// The source of a computed field is not in the store.
    case source(String)
    /// The primary key differs; the fields of the stored key.
    case key([String])
    /// The index takes time to build, or the records have to be rewritten, which only an opening with a schema does; or
    /// the catalog has to change, which a server does not allow its clients.
    case cost(EvolutionCost)
  }

  /// The name of the model.
  public let model: String
  /// The declared field; nil if the difference concerns the model.
  public let field: FieldSchema?
  /// What differs.
  public let kind: Kind
  /// The stored fields that the declaration lacks, for the advice on a missing field.
  package var undeclared: [FieldSchema] = []
  /// Whether the field belongs to the primary key.
  private var isInKey = false

  /// Creates a difference.
  public init(_ schema: ModelSchema, _ field: FieldSchema?, _ kind: Kind) {
    self.init(model: schema.name, field: field, kind)
    isInKey = field.map { field in schema.key.contains { StoredName($0) == StoredName(field.name) } } ?? false
  }

  package init(model: String, field: FieldSchema?, _ kind: Kind) {
    self.model = model
    self.field = field
    self.kind = kind
  }
}

extension SchemaDifference {
  /// Whether two differences are of the same field, model and kind, whatever their advice.
  public static func == (left: Self, right: Self) -> Bool {
    left.model == right.model && left.field == right.field && left.kind == right.kind
  }

  /// Hashes the model, the field and the kind.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(model)
    hasher.combine(field)
    hasher.combine(kind)
  }
}

extension SchemaDifference: CustomStringConvertible {
  /// The difference, and the word that settles it.
  public var description: String { "\(fact); \(advice)" }

  private var name: String { field?.name ?? model }

  private func isNamed(_ stored: FieldSchema) -> Bool { StoredName(stored.name) == StoredName(name) }

  /// What differs, without advice to a programmer.
  package var fact: String {
    switch kind {
    case .missing: "\(field.map(\.description) ?? name): not in the store, and without a fill"
    case .optional: "\(name): optional in the store, required here"
    case .required: "\(name): required in the store, optional here"
    case .kind(let stored):
      "\(name): \(isNamed(stored) ? "" : "“\(stored.name)” is ")stored as \(stored.shape), declared as \(field?.shape ?? "")"
    case .renamed(let other): "\(name): the store calls the field “\(other)” now"
    case .removed: "\(name): removed from the store"
    case .source(let source): "\(name): its source “\(source)” is not in the store"
    case .key(let key): "primary key: stored as (\(key.joined(separator: ", ")))"
    case .cost(.catalog): "\(name): the catalog of the store must change"
    case .cost(.indexes): "\(name): an index must be built"
    case .cost(.rewrite): "\(name): the records must be rewritten"
    }
  }

  private var advice: String {
    switch kind {
    case .missing: adviceForMissing
    case .optional:
      "add .fill(\\\(model).\(name), with: …) to the StoreSchema for the records in which it is nil, or declare it "
        + "optional"
    case .required: "declare it required"
    case .kind where isInKey: "a key cannot change; declare a new model and fill it in a .step"
    case .kind(let stored):
      (isNamed(stored)
        ? "give the property another stored name, as in @Field(\"\(name)2\"), and"
        : "remove was: \"\(stored.name)\", and")
        + " .compute it from \(stored.kind == .document ? "old.document(\"\(stored.name)\")" : "\"\(stored.name)\"") "
        + "in the StoreSchema"
    case .renamed(let other): "declare \(other), with was: \"\(name)\""
    case .removed:
      "choose another stored name, or add .restore(\(field.map { "\"\($0.name)\", from: \"\(model)\"" } ?? "model: \"\(model)\"")) "
        + "to the StoreSchema"
    case .source: "correct the name in .compute, or compute the source as well"
    case .key: "a key cannot change; declare a new model and fill it in a .step"
    case .cost(.catalog):
      "a server makes additions if its evolution is additive; otherwise open the store once with a StoreSchema that lists "
        + "the models"
    case .cost:
      "open the store with Repository(opening:engines:schema:) and a StoreSchema that lists the models"
    }
  }
}

extension SchemaDifference {
  /// First what keeps the stored values: a default would hide them.
  private var adviceForMissing: String {
    let renamed = undeclared.filter { field?.kind.includes($0.kind) ?? false }.prefix(3)
      .map { "@Field(was: \"\($0.name)\")" }
    let sources = undeclared.prefix(5).map { "“\($0.name)”" }
    var advice: [String] = []
    if !renamed.isEmpty {
      advice.append(
        "if it is one of the store's fields under another name, declare it with \(renamed.joined(separator: " or "))"
      )
    }
    if !sources.isEmpty {
      advice.append(
        "if its values follow from \(sources.joined(separator: ", ")), add .compute(\\\(model).\(name), from: …) to the "
          + "StoreSchema")
    }
    let new = "give it a default value that is a literal, or @Field(fill:)"
    advice.append(advice.isEmpty ? new + ", or .compute it in the StoreSchema" : "if it is new, \(new)")
    return advice.joined(separator: "; ")
  }
}

extension FieldKind {
  /// The value that stands for a removed required field in new records.
  package var zero: PersistentValue {
    switch tag {
    case .bool: .bool(false)
    case .integer: .integer(0)
    case .double: .double(0)
    case .date: .date(0)
    case .text: .text("")
    case .bytes: .bytes([])
    case .uuid: .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
    case .decimal: .decimal(0)
    case .document: .document("null")
    case .null: .null
    }
  }
}
