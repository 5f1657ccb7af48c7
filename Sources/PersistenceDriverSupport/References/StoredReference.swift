package import PersistenceDriver
import PersistencePrimitives

/// A field of a store's model that refers to records of a model of the same store.
package struct StoredReference: Sendable, Hashable {
  /// The model with the field.
  package var model: String
  /// The stored name of the field.
  package var field: String
  /// The model of the records that the field refers to.
  package var target: String
  /// What happens to the record when its target is deleted.
  package var rule: DeleteRule
  /// The rules of earlier declarations, which copies of earlier versions of the app still have.
  package var formerRules: [DeleteRule]
  /// Whether the field has stopped being a reference; earlier versions of the app still declare it.
  package var isEnded: Bool

  package init(
    model: String, field: String, target: String, rule: DeleteRule, formerRules: [DeleteRule] = [],
    isEnded: Bool = false
  ) {
    self.model = model
    self.field = field
    self.target = target
    self.rule = rule
    self.formerRules = formerRules
    self.isEnded = isEnded
  }

  /// Whether two references are the same; names are compared by their bytes.
  package static func == (left: StoredReference, right: StoredReference) -> Bool {
    left.hasEnds(of: right) && left.rule == right.rule && left.formerRules == right.formerRules
      && left.isEnded == right.isEnded
  }

  /// Hashes the names, the rules and the end.
  package func hash(into hasher: inout Hasher) {
    for name in [model, field, target] { hasher.combine(StoredName(name)) }
    hasher.combine(rule)
    hasher.combine(formerRules)
    hasher.combine(isEnded)
  }

  /// Whether two references are of the same field.
  package func hasField(of other: StoredReference) -> Bool {
    StoredName(model) == StoredName(other.model) && StoredName(field) == StoredName(other.field)
  }
}

extension StoredReference {
  /// Whether two references have the same field and the same target.
  func hasEnds(of other: StoredReference) -> Bool {
    hasField(of: other) && StoredName(target) == StoredName(other.target)
  }

  /// Whether the store keeps the reference as it is when code declares one of the same field.
  ///
  /// Code of the newest version replaces rules; other code may be older than the end of the reference, or than its rule.
  package func stays(as declared: StoredReference, replacesRules: Bool) -> Bool {
    guard hasEnds(of: declared) else { return false }
    if isEnded { return !replacesRules }
    return rule == declared.rule || !replacesRules && formerRules.contains(declared.rule)
  }

  /// What a delete rule means for records of a schema.
  ///
  /// A reference may outlive the optionality of its field: what cannot become nil keeps its record.
  func effect(of rule: DeleteRule, in schema: ModelSchema) -> DeleteRule {
    rule == .setNil && schema.field(named: field)?.isOptional != true ? .restrict : rule
  }
}

/// The references of a store: records of the reserved model `persistence.references`.
///
/// A store without the model has no references.
package enum ReferenceLedger {
  private static let name = "\(ReservedModel.prefix)references"

  /// Stands for the rule of a reference that has ended, and whose last rule is among the former ones.
  private static let ended = "none"

  private static let schema = Result {
    try ModelSchema(
      name: name,
      fields: [
        FieldSchema("model", .string), FieldSchema("field", .string), FieldSchema("target", .string),
        FieldSchema("rule", .string), FieldSchema("formerRules", .string),
      ], key: ["model", "field"])
  }

  /// Whether a store may have references.
  package static func exists(in reader: any StorageReader) throws -> Bool {
    try reader.schema(named: name) != nil
  }

  /// All references, ordered by model and field.
  package static func references(_ reader: any StorageReader) throws -> [StoredReference] {
    try entries(reader).filter { !$0.isEnded }
  }

  /// All references, also those that have ended, ordered by model and field.
  package static func entries(_ reader: any StorageReader) throws -> [StoredReference] {
    guard try exists(in: reader) else { return [] }
    var references: [StoredReference] = []
    _ = try reader.fetch(try FetchRequest(schema.get())).read(from: 0, limit: Int.max) { row in
      let name = try text(row, 3)
      let formerRules = try text(row, 4).split(separator: ",").compactMap { DeleteRule(rawValue: String($0)) }
      let isEnded = name == ended
      guard let rule = isEnded ? formerRules.last : DeleteRule(rawValue: name) else {
        throw PersistenceError(
          .newerStore, "the store has a delete rule “\(name)” that this version does not know; update the app"
        )
      }
      references.append(
        StoredReference(
          model: try text(row, 0), field: try text(row, 1), target: try text(row, 2), rule: rule,
          formerRules: formerRules, isEnded: isEnded))
    }
    return references
  }

  /// The foreign keys of a database that others made, as references.
  package static func foreign(_ reader: any StorageReader) throws -> [StoredReference] {
    try reader.unmappedObjects().compactMap { object in
      guard let reference = object.reference, let model = object.model else { return nil }
      return StoredReference(
        model: model, field: reference.field, target: reference.target, rule: reference.rule)
    }
  }

  private static func text(_ row: borrowing Row, _ position: Int) throws -> String {
    guard case .text(let text) = try row.value(at: position) else {
      throw PersistenceError.damaged("the list of a store's references cannot be read")
    }
    return text
  }

  /// Adds a reference, or replaces that of the same field.
  package static func save(_ reference: StoredReference, in transaction: any StorageTransaction) throws {
    let schema = try schema.get()
    try transaction.define(schema)
    let row = RowBuffer(count: schema.fields.count)
    row.set([
      .text(reference.model), .text(reference.field), .text(reference.target),
      .text(reference.isEnded ? ended : reference.rule.rawValue),
      .text(reference.formerRules.map(\.rawValue).joined(separator: ",")),
    ])
    try row.withRow { try transaction.save($0, in: schema) }
  }

  /// Removes a reference.
  package static func remove(_ reference: StoredReference, in transaction: any StorageTransaction) throws {
    _ = try transaction.delete(
      RecordKey([.text(reference.model), .text(reference.field)]), in: schema.get())
  }
}
