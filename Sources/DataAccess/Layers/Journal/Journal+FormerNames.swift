import Foundation
import PersistenceCore
import PersistenceDriver

extension Journal {
  /// Moves the outbox of the model's earlier names, and forgets what was known under them.
  func adoptFormerNames(by writer: UUID) throws {
    for name in try Object.schema.declaration.formerNames {
      let entries = try repository.filter(OutboxRecord.self, where: \.model == name).sorted(by: \.number)
        .result().checkedArray()
      for var entry in entries {
        if let schemaName = entry.schemaName,
          let schema = try LayerSchemas.schema(named: schemaName, of: name, in: repository)
        {
          try LayerSchemas.save(schema, as: schemaName, of: model, in: repository)
        }
        try repository.delete(OutboxRecord.self, id: entry.primaryKey)
        (entry.model, entry.number, entry.jointEnd) = (model, try advance(by: writer), nil)
        try repository.insert(entry)
      }
      let keys = try repository.filter(WaitingKeyRecord.self, where: \.model == name).delete()
      if !entries.isEmpty || keys > 0 {
        _ = try repository.filter(WaitingKeyRecord.self, where: \.model == model).delete()
      }
      for stale in try repository.filter(StaleKeyRecord.self, where: \.model == name).result().checkedArray()
      {
        try repository.delete(StaleKeyRecord.self, id: stale.primaryKey)
        try repository.save(StaleKeyRecord(model: model, part: stale.part, isSettled: stale.isSettled))
      }
      _ = try repository.filter(CoverageRecord.self, where: \.model == name).delete()
    }
  }
}
