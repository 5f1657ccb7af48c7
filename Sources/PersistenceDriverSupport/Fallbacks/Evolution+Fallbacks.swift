import PersistenceDriver
import PersistencePrimitives

// Named fallbacks for changes of schema, which an engine without a native implementation calls.
extension StorageReader {
  /// Says that a change rewrites all records, as ``StorageTransaction/evolveByCopying(_:)`` does.
  ///
  /// - Parameter change: The change.
  /// - Returns: ``EvolutionCost/catalog`` if the model has no records, otherwise ``EvolutionCost/rewrite``.
  /// - Throws: ``PersistenceError``.
  public func costOfCopying(_ change: SchemaChange) throws -> EvolutionCost {
    try count(FetchRequest(change.stored, limit: 1)) == 0 ? .catalog : .rewrite
  }
}

extension StorageTransaction {
  /// Changes a schema by copying the model's records: it writes the changed records to a temporary file, drops the
  /// model, defines it anew, and inserts the records.
  ///
  /// The file is in the system's folder for temporary files, has no name, and needs about the space of the records. All
  /// indexes are built, whatever ``SchemaChange/defersIndexes`` allows.
  ///
  /// - Parameter change: The change.
  /// - Throws: ``PersistenceError``; its code is ``PersistenceError/Code/unsupported`` if the engine cannot drop models,
  ///   and ``PersistenceError/Code/storeFull`` if the temporary file has no space.
  /// - Complexity: Linear in the number of records. The memory is that of one record, and less than 1 MiB, apart from the
  ///   engine's own transaction.
  public func evolveByCopying(_ change: SchemaChange) throws {
    try nested {
      try requireModels(for: change)
      let spool = try RowSpool(width: change.target.fields.count)
      let rows = RowChange(change)
      var done = 0
      try StoreProgress.report(0)
      _ = try fetch(FetchRequest(change.stored)).read(from: 0, limit: Int.max) { old in
        try rows.withRow(from: old) { try spool.add($0) }
        done += 1
        try StoreProgress.report(done / 2)
      }
      try drop(change.stored)
      try defineDeferringIndexes(change.target)
      try spool.forEach { row in
        try insert(row, in: change.target)
        done += 1
        try StoreProgress.report(done / 2)
      }
      while try !buildIndexes(of: change.target) {}
    }
  }
}

extension StorageReader {
  /// Rejects a change whose stored model is missing, or whose new name belongs to another model.
  fileprivate func requireModels(for change: SchemaChange) throws {
    let (old, new) = (change.stored.name, change.target.name)
    let isTaken = try StoredName(old) != StoredName(new) && schema(named: new) != nil
    guard try isTaken || schema(named: old) == nil else { return }
    throw PersistenceError.schemaMismatch(
      model: isTaken ? new : old, location: "",
      differences: [isTaken ? "\(new): already in the store" : "\(old): not in the store"])
  }
}

extension SchemaChange {
  /// The changed values of a stored record, by the positions of ``target``.
  ///
  /// - Parameter row: A row of ``stored``.
  /// - Returns: The values.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if a computed value does not have
  ///   its field's kind, and the error of ``compute``.
  public func values(from row: borrowing Row) throws -> [PersistentValue] {
    try RowChange(self).withRow(from: row) { try $0.values() }
  }
}
