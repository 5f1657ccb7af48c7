public import PersistenceDriver

/// A copy of all models of one store into another, of any engine, through the driver contract alone.
///
/// The source is read from one snapshot, so a source that is written to meanwhile is copied as it was at one
/// moment. The destination must hold no record; models that it declares already, alike and without records, are
/// filled. Records go across in batches, each one transaction, and no more than a page of them is held in
/// memory. At the end the copy is checked as ``MigrationOptions/verification`` says.
///
/// A migration that is stopped or fails leaves the batches that it has committed, so the destination then holds a
/// part of the source and is to be removed.
public struct Migration: Sendable {
  /// Where the records come from.
  public let source: any StorageContext
  /// Where the records go.
  public let destination: any StorageContext
  /// How it is done.
  public let options: MigrationOptions
  /// Where records are named that were put aside.
  public let rejects: (any MigrationRejectSink)?

  /// Prepares a migration.
  ///
  /// - Parameters:
  ///   - source: Where the records come from.
  ///   - destination: Where the records go.
  ///   - options: How it is done.
  ///   - rejects: Where records are named that were put aside.
  public init(
    from source: any StorageContext, to destination: any StorageContext,
    options: MigrationOptions = MigrationOptions(), rejects: (any MigrationRejectSink)? = nil
  ) {
    self.source = source
    self.destination = destination
    self.options = options
    self.rejects = rejects
  }

  /// Copies and checks.
  ///
  /// - Parameter progress: Told how far the work has come, outside of any transaction; what it throws stops the
  ///   migration and is thrown on.
  /// - Returns: What was done.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/destinationNotEmpty`` before anything is
  ///   written, ``PersistenceError/Code/verificationFailed`` where the copy is not what the source holds, and
  ///   whatever reading and writing meet.
  public func run(_ progress: (MigrationProgress) throws -> Void = { _ in }) throws -> MigrationReport {
    guard options.batchSize > 0, options.batchBytes > 0 else {
      throw PersistenceError.invalidRequest("a batch must have room for a record")
    }
    guard options.models == nil, options.conflicts == .fail, options.failures == .stop, options.start == .new,
      options.verification != .full
    else { throw PersistenceError.unsupported("do that yet", by: "the migration") }
    guard source !== destination else {
      throw PersistenceError.invalidRequest("a store cannot be migrated to itself")
    }
    guard !destination.capabilities.isReadOnly else {
      throw PersistenceError.readOnly(destination.location)
    }
    let snapshot = try source.snapshot()
    let schemas = try snapshot.catalog()
    try prepareDestination(for: schemas)
    var models: [MigrationReport.Model] = []
    for schema in schemas {
      let start = ContinuousClock.now
      var model = try copy(schema, from: snapshot, progress)
      try verify(model, schema, progress)
      model.seconds = (ContinuousClock.now - start).timeInterval
      models.append(model)
    }
    return MigrationReport(models: models, verification: options.verification)
  }

  private func prepareDestination(for schemas: [ModelSchema]) throws {
    // Asked outside of a transaction first, so that a refused destination is not even opened for writing.
    try requireEmpty(destination)
    try destination.transaction { transaction in
      try requireEmpty(transaction)
      for schema in schemas { try transaction.define(schema) }
    }
  }

  private func requireEmpty(_ reader: any StorageReader) throws {
    for schema in try reader.catalog() {
      let count = try reader.count(try FetchRequest(schema))
      guard count == 0 else {
        throw PersistenceError.destinationNotEmpty(
          schema.name, count: count, location: destination.location)
      }
    }
  }

  private func copy(
    _ schema: ModelSchema, from snapshot: any StorageSnapshot,
    _ progress: (MigrationProgress) throws -> Void
  ) throws -> MigrationReport.Model {
    let results = try snapshot.fetch(try FetchRequest(schema))
    let total = try results.count()
    var digester = RecordDigester(schema)
    var digest = ContentDigest()
    var page = PageSize()
    var (done, bytes, isFinished) = (0, 0, false)
    try progress(MigrationProgress(phase: .copying, model: schema.name, done: 0, total: total))
    while !isFinished {
      let (firstRecord, firstByte) = (done, bytes)
      try destination.transaction { transaction in
        while !isFinished, done - firstRecord < options.batchSize, bytes - firstByte < options.batchBytes {
          let before = bytes
          let limit = min(page.rows, options.batchSize - (done - firstRecord))
          let read = try results.read(from: done, limit: limit) { row in
            try Self.insert(row, schema, transaction)
            if options.verification.wantsDigest { digest.add(digester.digest(of: row)) }
            bytes += row.approximateSize
          }
          done += read
          isFinished = read < limit
          page.note(rows: read, bytes: bytes - before)
        }
      }
      try progress(MigrationProgress(phase: .copying, model: schema.name, done: done, total: total))
    }
    return MigrationReport.Model(
      name: schema.name, destinationName: schema.name,
      counts: MigrationCounts(read: done, written: done), bytes: bytes,
      digest: options.verification.wantsDigest ? digest : nil)
  }

  private static func insert(
    _ row: borrowing Row, _ schema: ModelSchema, _ transaction: any StorageTransaction
  ) throws {
    do {
      try transaction.insert(row, in: schema)
    } catch let error as PersistenceError {
      let key = try RecordKey(of: row, in: schema)
      throw error.at(model: schema.name, key: key)
    }
  }

  private func verify(
    _ model: MigrationReport.Model, _ schema: ModelSchema, _ progress: (MigrationProgress) throws -> Void
  ) throws {
    guard options.verification != .none else { return }
    let snapshot = try destination.snapshot()
    let count = try snapshot.count(try FetchRequest(schema))
    guard count == model.counts.written else {
      throw PersistenceError.verificationFailed(
        schema.name, "\(model.counts.written) records were copied and \(count) are there",
        location: destination.location)
    }
    guard let expected = model.digest else { return }
    let content = try StoreContent.read(schema, from: snapshot, total: count, phase: .verifying, progress)
    guard content.digest == expected else {
      throw PersistenceError.verificationFailed(
        schema.name, "the digest of what was read is \(expected), of what is there \(content.digest)",
        location: destination.location)
    }
  }
}
