import PersistenceCore

/// A write as a log has it.
enum LoggedWrite: Codable {
  case define(ModelSchema)
  case save([PersistentValue], ModelSchema)
  case delete(RecordKey, ModelSchema)
  case deleteAll(ModelSchema)
  case drop(ModelSchema)

  /// The logged form of a write; nil for a change of schema, for which a log is replaced.
  init?(_ write: WriteRecorder.Write) {
    switch write {
    case .define(let schema): self = .define(schema)
    case .save(let row, let schema): self = .save(row, schema)
    case .delete(let key, let schema): self = .delete(key, schema)
    case .deleteAll(let schema): self = .deleteAll(schema)
    case .drop(let schema): self = .drop(schema)
    case .evolve: return nil
    }
  }

  private var write: WriteRecorder.Write {
    switch self {
    case .define(let schema): .define(schema)
    case .save(let row, let schema): .save(row, schema)
    case .delete(let key, let schema): .delete(key, schema)
    case .deleteAll(let schema): .deleteAll(schema)
    case .drop(let schema): .drop(schema)
    }
  }

  func apply(to transaction: any StorageTransaction) throws { try write.apply(to: transaction) }
}
