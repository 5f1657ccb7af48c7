package import PersistenceDriver
import PersistencePrimitives

/// A field or a model that an app has removed, and that the store still contains, hidden.
public struct RemovedContent: Sendable, Hashable, Codable {
  /// The name of the model.
  public let model: String
  /// The stored name that the field had last; nil if the whole model was removed.
  public let field: String?
  /// Earlier names of the field or the model.
  public let formerNames: [String]
  /// The name under which the store hides the field or the model.
  package let hiddenName: String

  /// The name of the model, or of the model and the field, such as `Film.nick`.
  public var name: String { field.map { "\(model).\($0)" } ?? model }
}

/// Removed fields and models: listed, shown again, and erased (contract S8).
package enum SchemaStore {
  /// The removed fields and models of a store, fields first, each list sorted by name.
  ///
  /// Removed fields of removed models are not among them: they are listed once the model is restored.
  package static func removed(in reader: any StorageReader) throws -> [RemovedContent] {
    let histories = try SchemaLedger.histories(reader)
    func history(_ model: String) -> ModelHistory? { histories.first { [$0.model].containsName(model) } }
    var (fields, models): ([RemovedContent], [RemovedContent]) = ([], [])
    for schema in try reader.catalog() {
      if ModelHistory.isRemoved(schema.name) {
        let names = SchemaDocument.Removal(
          hidden: schema.name, formerNames: history(schema.name)?.formerNames ?? [])
        models.append(
          RemovedContent(
            model: names.name, field: nil, formerNames: names.formerNames, hiddenName: schema.name))
      } else if !schema.isReserved {
        let history = history(schema.name)
        for field in schema.fields where ModelHistory.isRemoved(field.name) {
          let names = SchemaDocument.Removal(
            hidden: field.name, formerNames: history?.field(field.name).formerNames ?? [])
          fields.append(
            RemovedContent(
              model: schema.name, field: names.name, formerNames: names.formerNames, hiddenName: field.name))
        }
      }
    }
    return [fields, models].flatMap { $0.sorted { StoredName($0.name) < StoredName($1.name) } }
  }

  /// The number of values that erasing loses: of records of a model, or of values of a field that are not nil.
  package static func valueCount(of removed: RemovedContent, _ reader: any StorageReader) throws -> Int {
    let schema = try schema(of: removed, reader)
    let isValue = PredicateNode.comparison(field: removed.hiddenName, .notEqual, .null)
    return try reader.count(FetchRequest(schema, where: removed.field == nil ? nil : isValue))
  }

  /// Shows a removed field or model again under its last name, inside a transaction.
  ///
  /// - Throws: ``PersistenceError`` with code `invalidRequest` if the store does not hide it, or the name is taken.
  package static func restore(_ removed: RemovedContent, in transaction: any StorageTransaction) throws {
    let stored = try schema(of: removed, transaction)
    var history =
      try SchemaLedger.history(of: stored.name, transaction) ?? ModelHistory(model: stored.name)
    let target: ModelSchema
    if let name = removed.field {
      guard stored.position(of: name) == nil else { throw taken(removed) }
      target = try stored.renaming(removed.hiddenName, to: name)
      history.rename(removed.hiddenName, to: name)
      if let field = target.field(named: name) { history.show(field) }
    } else {
      if let other = try transaction.schema(named: removed.model) {
        guard other.isPlaceholder else { throw taken(removed) }
        try transaction.drop(other)
      }
      target = try ModelSchema(
        name: removed.model, fields: stored.fields, key: stored.key, indexes: stored.indexes)
      history.model = removed.model
      history.formerNames.removeAll { ModelHistory.isRemoved($0) || [$0].containsName(removed.model) }
    }
    try transaction.evolve(
      SchemaChange(from: stored, to: target, sources: stored.fields.indices.map { .field($0) }))
    history.leave(stored.fingerprint)
    try SchemaLedger.write(history, replacing: stored.name, in: transaction)
  }

  /// The schema that contains a removed field, or of a removed model.
  static func schema(of removed: RemovedContent, _ reader: any StorageReader) throws -> ModelSchema {
    guard ModelHistory.isRemoved(removed.hiddenName),
      let schema = try reader.schema(named: removed.field == nil ? removed.hiddenName : removed.model),
      removed.field == nil || schema.position(of: removed.hiddenName) != nil
    else { throw absent(removed) }
    return schema
  }

  static func absent(_ removed: RemovedContent) -> PersistenceError {
    PersistenceError(
      .invalidRequest, "the store does not contain a removed \(removed.name); list what it contains",
      model: removed.model, field: removed.field)
  }

  private static func taken(_ removed: RemovedContent) -> PersistenceError {
    PersistenceError(
      .invalidRequest, "\(removed.name) cannot be restored: the store contains another \(removed.name)",
      model: removed.model, field: removed.field)
  }
}

extension ModelSchema {
  /// The schema with another name of one field.
  fileprivate func renaming(_ field: String, to other: String) throws -> ModelSchema {
    func renamed(_ name: String) -> String { [field].containsName(name) ? other : name }
    return try ModelSchema(
      name: name, fields: fields.map { FieldSchema(renamed($0.name), $0.kind, isOptional: $0.isOptional) },
      key: key.map(renamed),
      indexes: indexes.map { IndexSchema($0.fields.map(renamed), isUnique: $0.isUnique) })
  }
}
