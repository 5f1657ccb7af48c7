public import PersistenceDriver
import PersistenceDriverSupport

extension PersistentRecord {
  /// Adds records, or replaces those with the same keys; saves all or none.
  public static func save(_ models: [Self], in context: any PersistentContext) throws {
    try put(models, in: context) { try $0.save($1, in: $2) }
  }

  /// Adds all records, or none.
  package static func insert(_ models: [Self], in context: any PersistentContext) throws {
    try put(models, in: context, together: true) { try $0.insert($1, in: $2) }
  }

  /// Replaces the records with the same keys, or none.
  package static func update(_ models: [Self], in context: any PersistentContext) throws {
    try put(models, in: context) { try $0.update($1, in: $2) }
  }

  /// Reads the stored record, changes it and saves it, in one transaction (contract W2).
  public static func write(
    _ model: Self, in context: any PersistentContext, _ change: (inout Self) throws -> Void
  ) throws -> Self {
    try write(model.primaryKey, in: context, change)
  }

  /// Reads the record with a key, changes it and saves it, in one transaction (contract W2).
  ///
  /// The closure must not change the key; if it throws, nothing is changed.
  package static func write(
    _ key: PrimaryKey, in context: any PersistentContext, _ change: (inout Self) throws -> Void
  ) throws -> Self {
    try StorageAccess.with(context, for: recordType) { access in
      let schema = try Self.schema.model
      let key = RecordKey(key.keyValues)
      var changed: Self?
      // The closure may also write other records, which must roll back with this one if it throws.
      try access.writeAtomically { transaction in
        try define(schema, in: transaction, of: access.root)
        guard var record = try read(key, as: schema, from: LocatedReader(transaction, of: access.root))
        else { throw PersistenceError.notFound(key, in: schema) }
        try change(&record)
        guard record.recordKey == key else {
          throw PersistenceError.invalidRequest(
            "write cannot change the primary key of a \(schema.name); delete the record and insert another")
        }
        let row = RowBuffer(count: schema.fields.count)
        try record.encode(into: row)
        try row.withRow { try transaction.update($0, in: schema) }
        changed = record
      }
      guard let changed else { throw PersistenceError.notFound(key, in: schema) }
      return changed
    }
  }

  /// Deletes the record with the model's key.
  public static func delete(_ model: Self, in context: any PersistentContext) throws -> Bool {
    try delete(model.primaryKey, in: context)
  }

  /// Deletes the record with a key, and returns whether it existed.
  package static func delete(_ key: PrimaryKey, in context: any PersistentContext) throws -> Bool {
    try StorageAccess.with(context, for: recordType) { access in
      let schema = try Self.schema.model
      var deleted = false
      try access.writeSingle { deleted = try $0.delete(RecordKey(key.keyValues), in: schema) }
      return deleted
    }
  }

  /// Deletes the records that a fetch with the same options would return, and returns their number.
  package static func delete(in context: any PersistentContext, options: FetchOptions<Self>) throws -> Int {
    let options = try RequestOptions.of(options)
    return try StorageAccess.with(context, for: options.model, relating: options.related) { access in
      var deleted = 0
      try access.writeSingle(options) { deleted = try $0.delete($1) }
      return deleted
    }
  }

  /// Deletes all records of this model, and no others.
  public static func deleteAll(in context: any PersistentContext) throws {
    try StorageAccess.with(context, for: recordType) { access in
      let schema = try Self.schema.model
      try access.writeSingle { _ = try $0.deleteAll(in: schema) }
    }
  }

  /// Adds the model to the store, and its references.
  static func define(
    _ schema: ModelSchema, in transaction: any StorageTransaction, of store: any StorageContext
  ) throws {
    let declaration = Self.schema
    guard declaration.hasReferences else { return try transaction.define(schema) }
    for target in declaration.storage.targets where !target.supportedContexts.contains(store) {
      throw PersistenceError.invalidSchema(
        schema.name,
        "it refers to \(target), which cannot be stored in the same context; give both the same contexts")
    }
    try transaction.define(schema)
    try transaction.keeper?.declare(schema) { try declaration.declaration }
  }

  private static func put(
    _ models: [Self], in context: any PersistentContext, together: Bool = false,
    _ write: (any StorageTransaction, borrowing Row, ModelSchema) throws -> Void
  ) throws {
    try StorageAccess.with(context, for: recordType) { access in
      guard !models.isEmpty else { return }
      let schema = try Self.schema.model
      let row = RowBuffer(count: schema.fields.count)
      // The answer to the only write of a transaction may come with that to the commit, if it runs again after a refusal.
      let isAhead = together && models.count == 1 && access.isStore && access.root.capabilities.replays
      func writeRow(in transaction: any StorageTransaction) throws {
        if isAhead {
          try row.withRow { try transaction.insertAhead($0, in: schema) }
        } else {
          try row.withRow { try write(transaction, $0, schema) }
        }
      }
      func putRows(_ transaction: any StorageTransaction, _ encode: (Int) throws -> Void) throws {
        let isDone =
          try together
          && transaction.insertTogether(models.count, in: schema) { position, insert in
            row.reset()
            try encode(position)
            try row.withRow(insert)
          }
        for position in 0..<(isDone ? 0 : models.count) {
          row.reset()
          try encode(position)
          do { try writeRow(in: transaction) } catch let error as PersistenceError {
            throw error.at(
              model: schema.name, key: models[position].recordKey, location: access.root.location)
          }
        }
      }
      func putAll(_ transaction: any StorageTransaction) throws {
        try define(schema, in: transaction, of: access.root)
        // The view needs types that are looked up at run time, which takes longer than the copy of one record.
        if models.count == 1 { return try putRows(transaction) { try models[$0].encode(into: row) } }
        try models.withRecordsInPlace { records in
          try putRows(transaction) { try records[$0].encode(into: row) }
        }
      }
      if models.count == 1 { try access.writeSingle(putAll) } else { try access.writeAtomically(putAll) }
    }
  }
}

/// A record in the memory of an array.
///
/// Code that is not specialized for a type of records copies every element that it uses, with a reference count for each
/// text. A value that cannot be copied is used where it is.
private struct RecordInPlace<Record: PersistentRecord>: ~Copyable {
  private let record: Record

  func encode(into row: RowBuffer) throws { try record.encode(into: row) }
}

extension Array where Element: PersistentRecord {
  /// Calls a closure with the elements where they are; does nothing for an empty array.
  fileprivate func withRecordsInPlace(
    _ body: (UnsafePointer<RecordInPlace<Element>>) throws -> Void
  ) throws {
    try withUnsafeBufferPointer { elements in
      guard let start = elements.baseAddress else { return }
      // A struct has the layout of its only property.
      try start.withMemoryRebound(to: RecordInPlace<Element>.self, capacity: elements.count) { try body($0) }
    }
  }
}
