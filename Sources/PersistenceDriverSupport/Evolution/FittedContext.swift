package import PersistenceDriver

/// A context whose programs declare other schemas than the store contains (contract S1).
///
/// It maps their requests and rows. The first write of a declaration makes the changes that cost only the catalog.
package final class FittedContext: StorageContextWrapper, FittedReader {
  package let wrapped: any StorageContext
  package let fits: SchemaFits

  package init(_ wrapped: any StorageContext, _ fits: SchemaFits) {
    self.wrapped = wrapped
    self.fits = fits
  }

  package func wrap(_ snapshot: any StorageSnapshot) -> any StorageSnapshot { FittedSnapshot(snapshot, fits) }

  package func wrap(_ transaction: any StorageTransaction) -> any StorageTransaction {
    FittedTransaction(transaction, fits)
  }
}

extension StorageContext {
  /// The store without removed fields, as migrations, servers and tools show it.
  ///
  /// - Throws: ``PersistenceError`` if the catalog cannot be read.
  package func hidingRemovedFields() throws -> any StorageContext {
    try SchemaLedger.exists(in: self) ? FittedContext(self, SchemaFits(location: location)) : self
  }
}

extension StorageSnapshot {
  /// The snapshot without removed fields.
  ///
  /// - Throws: ``PersistenceError`` if the catalog cannot be read.
  package func hidingRemovedFields() throws -> any StorageSnapshot {
    try SchemaLedger.exists(in: self) ? FittedSnapshot(self, SchemaFits(location: "")) : self
  }
}

extension StorageSnapshot {
  /// The filter of a request in terms of the stored schema, as commits show it to observers.
  ///
  /// - Throws: ``PersistenceError`` with code `schemaMismatch` or `newerStore` if the store has another schema that the
  ///   snapshot does not map.
  package func storedRequest(for request: FetchRequest) throws -> FetchRequest {
    let filter = try FetchRequest(request.schema, where: request.predicate)
    func compared(_ reader: any StorageReader, _ mapping: SchemaMapping?) throws -> FetchRequest {
      let wanted = mapping?.stored ?? request.schema
      // The comparison of drivers (contract E4), without a request.
      if let found = try reader.schema(named: wanted.name) {
        try wanted.requireCompatible(with: found, location: "")
      }
      guard let stored = try mapping?.request(filter) else { return filter }
      return try FetchRequest(stored.schema, where: stored.predicate)
    }
    guard let fitted = self as? FittedSnapshot else { return try compared(self, nil) }
    return try fitted.fits.withMapping(of: request.schema, fitted.wrapped) {
      try compared(fitted.wrapped, $0)
    }
  }
}

final class FittedSnapshot: StorageSnapshotWrapper, FittedReader {
  let wrapped: any StorageSnapshot
  let fits: SchemaFits

  init(_ wrapped: any StorageSnapshot, _ fits: SchemaFits) {
    self.wrapped = wrapped
    self.fits = fits
  }
}

/// A transaction of a ``FittedContext``.
package final class FittedTransaction: StorageTransactionWrapper, PipelinedTransaction, FittedReader {
  package let wrapped: any StorageTransaction
  let fits: SchemaFits
  /// The mapping of the model that was written last, which no other transaction can make obsolete.
  private var last: (schema: ModelSchema, mapping: SchemaMapping?)?
  /// The memory of the row that is being written, once there was one.
  private var row: RowBuffer?

  package init(_ wrapped: any StorageTransaction, _ fits: SchemaFits) {
    self.wrapped = wrapped
    self.fits = fits
  }

  package func define(_ schema: ModelSchema) throws {
    last = nil
    try fits.evolve(schema, limit: .catalog, in: wrapped)
  }

  package func evolve(_ change: SchemaChange) throws {
    last = nil
    try wrapped.evolve(change)
  }

  package func nested(_ body: () throws -> Void) throws {
    // A rollback undoes changes of schemas.
    defer { last = nil }
    try wrapped.nested(body)
  }

  package func defineDeferringIndexes(_ schema: ModelSchema) throws {
    last = nil
    if case .same = try SchemaFits.fit(fits.declaration(of: schema), wrapped, location: "").fit {
      return try wrapped.defineDeferringIndexes(schema)
    }
    try define(schema)
  }

  package func buildIndexes(of schema: ModelSchema) throws -> Bool {
    try withMapping(schema) { try wrapped.buildIndexes(of: $0?.stored ?? schema) }
  }

  package func drop(_ schema: ModelSchema) throws {
    defer { last = nil }
    try withMapping(schema) { try wrapped.drop($0?.stored ?? schema) }
  }

  package func insert(_ row: borrowing Row, in schema: ModelSchema) throws {
    try write(row, in: schema, isUpdate: false) { try wrapped.insert($0, in: $1) }
  }

  package var isPipelining: Bool { wrapped.isPipeline }

  package func insertAhead(_ row: borrowing Row, in schema: ModelSchema) throws {
    try write(row, in: schema, isUpdate: false) { try wrapped.insertAhead($0, in: $1) }
  }

  package func waitForInsertions() throws -> Bool { try wrapped.waitForInsertions() }

  package func update(_ row: borrowing Row, in schema: ModelSchema) throws {
    try write(row, in: schema, isUpdate: true, mustExist: true) { try wrapped.update($0, in: $1) }
  }

  package func save(_ row: borrowing Row, in schema: ModelSchema) throws {
    try write(row, in: schema, isUpdate: true) { try wrapped.save($0, in: $1) }
  }

  package func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool {
    try key.validate(for: schema)
    return try withMapping(schema) { try wrapped.delete(key, in: $0?.stored ?? schema) }
  }

  package func delete(_ request: FetchRequest) throws -> Int {
    try withMapping(request.schema) { try wrapped.delete($0?.request(request) ?? request) }
  }

  package func update(_ request: UpdateRequest) throws -> Int {
    try withMapping(request.rows.schema) { try wrapped.update($0?.request(request) ?? request) }
  }

  package func deleteAll(in schema: ModelSchema) throws -> Int {
    try withMapping(schema) { try wrapped.deleteAll(in: $0?.stored ?? schema) }
  }

  /// Whether the store can keep every record of a declared schema.
  ///
  /// - Returns: False if a definition must come first: of a new field, a wider kind or a new optionality; nil if the store
  ///   does not have the model.
  package func canStoreEveryRecord(of schema: ModelSchema) throws -> Bool? {
    try withMapping(schema) { mapping in
      let stored = mapping?.stored ?? schema
      guard let found = try wrapped.schema(named: stored.name) else { return nil }
      // The mapping may be obsolete.
      try stored.requireCompatible(with: found, location: "")
      return mapping?.storesEveryRow ?? true
    }
  }

  private func withMapping<Result>(_ schema: ModelSchema, _ body: (SchemaMapping?) throws -> Result) throws
    -> Result
  {
    try fits.withMapping(of: schema, wrapped, body)
  }

  /// The mapping with which to write rows of a model.
  private func writingMapping(of schema: ModelSchema) throws -> SchemaMapping? {
    if let last, last.schema.identity == schema.identity { return last.mapping }
    let mapping = try withMapping(schema) { mapping in
      // Verifies that the store still has the schema of the mapping.
      if let mapping { _ = try wrapped.count(FetchRequest(mapping.stored, limit: 0)) }
      return mapping
    }
    last = (schema, mapping)
    return mapping
  }

  private func emptyRow(count: Int) -> RowBuffer {
    if let row, row.count == count {
      row.reset()
      return row
    }
    let made = RowBuffer(count: count)
    row = made
    return made
  }

  /// Writes a row, merged with the fields of the record that the declaration lacks.
  private func write(
    _ row: borrowing Row, in schema: ModelSchema, isUpdate: Bool, mustExist: Bool = false,
    _ body: (borrowing Row, ModelSchema) throws -> Void
  ) throws {
    try schema.validate(row)
    let known = try writingMapping(of: schema)
    guard let mapping = known, !mapping.keepsRows else {
      try known?.requireExactNumbers(row)
      do {
        return try body(row, known?.stored ?? schema)
      } catch let error as PersistenceError
        where known == nil && error.code == .schemaMismatch && error.differences.isEmpty
      {
        // The schemas were the same until another program changed the stored one.
        fits.forget(schema)
        last = nil
        guard try writingMapping(of: schema) != nil else { throw error }
        return try write(row, in: schema, isUpdate: isUpdate, mustExist: mustExist, body)
      }
    }
    let stored = emptyRow(count: mapping.stored.fields.count)
    var isNew = true
    if isUpdate, !mapping.unseen.isEmpty {
      let key = try RecordKey(of: row, in: schema)
      isNew = try !wrapped.find(key, in: mapping.stored) { old in
        for field in mapping.unseen { stored.setCopy(of: old[field.position], at: field.position) }
      }
      if isNew, mustExist { throw PersistenceError.notFound(key, in: schema) }
    }
    try mapping.fillStored(stored, from: row, isNew: isNew)
    try mapping.requireExactNumbers(row)
    try stored.withRow { try body($0, mapping.stored) }
  }
}
