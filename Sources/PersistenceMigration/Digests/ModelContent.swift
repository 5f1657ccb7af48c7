import PersistenceDriver
import PersistenceDriverSupport

/// The number of a model's records in a store, and their digest.
struct ModelContent {
  var count = 0
  var digest = ContentDigest()

  var side: ComparisonReport.Side { ComparisonReport.Side(count: count, digest: digest) }

  /// Reads all records of a model page by page.
  static func read(
    _ schema: ModelSchema, from reader: any StorageReader, phase: StoreProgress.Phase,
    also body: (borrowing Row) throws -> Void = { _ in }, _ progress: (StoreProgress) throws -> Void
  ) throws -> ModelContent {
    let request = try FetchRequest(schema)
    let (total, results) = (try reader.count(request), try reader.fetch(request))
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
      try progress(StoreProgress(phase: phase, model: schema.name, done: content.count, total: total))
      if read < limit { return content }
    }
  }

  /// Reads all records of a model with a second thread.
  ///
  /// The thread that is ahead of the other computes the digests.
  static func read(
    _ schema: ModelSchema, of snapshot: any StorageSnapshot, total: Int, phase: StoreProgress.Phase,
    also body: (borrowing Row) throws -> Void = { _ in }, _ progress: (StoreProgress) throws -> Void
  ) throws -> ModelContent {
    let digester = RecordDigester(schema)
    var content = ModelContent()
    let mapper = try RecordMapper(MigrationMapping(), schema)
    try SourceReader.forEachBatch(of: mapper, in: snapshot, MigrationOptions()) { batch in
      content.digest.add(batch.digest(by: digester))
      for index in 0..<batch.count { try batch.withRow(index) { try body($0) } }
      content.count += batch.count
      try progress(StoreProgress(phase: phase, model: schema.name, done: content.count, total: total))
    }
    return content
  }
}
