import PersistenceDriver
import PersistenceDriverSupport

/// The number of a model's records in a store, and their digest.
struct ModelContent {
  var count = 0
  var digest = ContentDigest()

  /// Reads all records of a model page by page.
  static func read(
    _ schema: ModelSchema, from reader: any StorageReader, total: Int, phase: MigrationProgress.Phase,
    also body: (borrowing Row) throws -> Void = { _ in }, _ progress: (MigrationProgress) throws -> Void
  ) throws -> ModelContent {
    let results = try reader.fetch(try FetchRequest(schema))
    let digester = RecordDigester(schema)
    var content = ModelContent()
    var page = PageSize()
    while true {
      var bytes = 0
      let limit = page.rows
      let read = try results.read(from: content.count, limit: limit) { row in
        content.digest.add(digester.digest(of: row))
        try body(row)
        bytes += row.approximateSize
      }
      content.count += read
      page.note(rows: read, bytes: bytes)
      try progress(
        MigrationProgress(phase: phase, model: schema.name, done: content.count, total: total))
      if read < limit { return content }
    }
  }

  /// Reads all records of a model with a second thread.
  ///
  /// The thread that is ahead of the other computes the digests.
  static func read(
    _ schema: ModelSchema, of snapshot: any StorageSnapshot, total: Int, phase: MigrationProgress.Phase,
    also body: (borrowing Row) throws -> Void = { _ in }, _ progress: (MigrationProgress) throws -> Void
  ) throws -> ModelContent {
    let queue = BatchQueue(fieldCount: schema.fields.count)
    let source = SourceReader(
      mapper: try RecordMapper(MigrationMapping(), schema), snapshot: snapshot, queue: queue,
      options: MigrationOptions(verification: .digest), start: ReadPosition())
    let reader = BlockingThread("persistence verification") { source.run() }
    defer {
      queue.cancel()
      reader.join()
    }
    let digester = RecordDigester(schema)
    var (content, isFinished) = (ModelContent(), false)
    while !isFinished {
      let batch = try queue.pop()
      content.digest.add(batch.digest(by: digester))
      for index in 0..<batch.count { try batch.withRow(index) { try body($0) } }
      content.count += batch.count
      isFinished = batch.endsModel
      queue.recycle(batch)
      try progress(
        MigrationProgress(phase: phase, model: schema.name, done: content.count, total: total))
    }
    return content
  }
}
