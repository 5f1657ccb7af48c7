import PersistenceCore
import PersistenceDriverSupport

extension FuzzSubject {
  func write(_ step: FuzzStep, _ transaction: any StorageTransaction) throws -> FuzzOutcome.Value {
    switch step {
    case .define(let model): try transaction.define(schemas[model])
    case .evolve(let model, let change):
      try transaction.evolve(try change.change(of: model, in: schemas))
      // The new indexes of half of the versions wait for ever; of the others, a part is built.
      if change.target.isMultiple(of: 2) { _ = try transaction.buildIndexes(of: schemas[change.target]) }
    case .insert(let model, let row): try row.withRow { try transaction.insert($0, in: schemas[model]) }
    case .update(let model, let row): try row.withRow { try transaction.update($0, in: schemas[model]) }
    case .save(let model, let row): try row.withRow { try transaction.save($0, in: schemas[model]) }
    case .saveMany(let model, let rows): try transaction.save(rows, in: schemas[model])
    case .delete(let model, let key):
      return .truth(try transaction.delete(RecordKey(key), in: schemas[model]))
    case .deleteRows(let query):
      return .number(
        try transaction.delete(try query.request(in: schemas, fewKeys: fewKeys, by: transaction)))
    case .updateRows(let query, let assignments):
      return .number(
        try transaction.update(
          try UpdateRequest(
            try query.request(in: schemas, fewKeys: fewKeys, by: transaction), set: assignments)))
    case .deleteAll(let model): return .number(try transaction.deleteAll(in: schemas[model]))
    default: break
    }
    return .done
  }
}
