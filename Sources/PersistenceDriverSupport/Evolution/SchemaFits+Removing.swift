package import PersistenceDriver
import PersistencePrimitives

extension SchemaFits {
  /// Hides a model and its records, and remembers its names, inside a transaction.
  package static func remove(_ name: String, formerNames: [String], in transaction: any StorageTransaction)
    throws
  {
    let names = [name] + formerNames
    let histories = try SchemaLedger.histories(transaction)
    func remember(_ history: ModelHistory, as hidden: String) throws {
      var history = history
      let earlier = history.model
      history.model = hidden
      history.formerNames = (history.formerNames + names).uniqueNames(besides: hidden)
      try SchemaLedger.write(history, replacing: earlier, in: transaction)
    }
    func known(_ model: String) -> ModelHistory? { histories.first { [$0.model].containsName(model) } }
    var isStored = false
    for name in names {
      guard let stored = try transaction.schema(named: name), !stored.isPlaceholder else { continue }
      isStored = true
      var hidden = ModelHistory.removedPrefix + name
      while try transaction.schema(named: hidden) != nil { hidden += "+" }
      let target = try ModelSchema(
        name: hidden, fields: stored.fields, key: stored.key, indexes: stored.indexes)
      try transaction.evolve(
        SchemaChange(from: stored, to: target, sources: stored.fields.indices.map { .field($0) }))
      var history = known(name) ?? ModelHistory(model: name)
      history.leave(stored.fingerprint)
      try remember(history, as: hidden)
    }
    guard !isStored else { return }
    let history = names.lazy.compactMap(known).first ?? ModelHistory(model: name)
    try remember(history, as: ModelHistory.removedPrefix + name)
  }

  /// Whether a store contains a model that a rule removes, or does not remember the removal (contract S4).
  package static func isRemovalNeeded(_ name: String, formerNames: [String], _ reader: any StorageReader)
    throws -> Bool
  {
    for name in [name] + formerNames {
      if let schema = try reader.schema(named: name), !schema.isPlaceholder { return true }
    }
    return try !SchemaLedger.histories(reader).contains { history in
      ModelHistory.isRemoved(history.model) && history.formerNames.containsName(name)
    }
  }
}
