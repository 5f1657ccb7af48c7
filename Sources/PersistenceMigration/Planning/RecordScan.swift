import PersistenceDriver

/// Reads all records of a model page by page, and continues after unreadable ones.
struct RecordScan {
  /// The outcome for one record.
  enum Outcome {
    case read
    case unreadable(PersistenceError)
  }

  private let schema: ModelSchema
  private let reader: any StorageReader

  init(_ schema: ModelSchema, in reader: any StorageReader) {
    self.schema = schema
    self.reader = reader
  }

  /// Scans the model.
  ///
  /// - Parameters:
  ///   - progress: A closure that receives the progress.
  ///   - body: A closure that receives the outcome for each record.
  ///   - reading: A closure that receives each readable record.
  /// - Throws: Errors of the closures, and ``PersistenceError`` if the medium fails.
  func run(
    _ progress: (MigrationProgress) throws -> Void, _ body: (Outcome) throws -> Void,
    reading: (borrowing Row) throws -> Void
  ) throws {
    let request = try FetchRequest(schema)
    let total = try reader.count(request)
    let results = try reader.fetch(request)
    var (done, page) = (0, PageSize())
    // After a failed page, its rows are read one at a time to find the unreadable one.
    var singles = 0
    while done < total {
      try progress(MigrationProgress(phase: .planning, model: schema.name, done: done, total: total))
      let limit = singles > 0 ? 1 : min(page.rows, total - done)
      var (bytes, read) = (0, 0)
      do {
        _ = try results.read(from: done, limit: limit) { row in
          bytes += row.approximateSize
          do {
            try reading(row)
            try body(.read)
          } catch {
            throw Stopped(error: error)
          }
          read += 1
        }
        guard read > 0 else { break }
        if singles == 0 { page.note(rows: read, bytes: bytes) }
        singles = max(0, singles - 1)
      } catch let stopped as Stopped {
        throw stopped.error
      } catch let error as PersistenceError where Self.concernsOneRecord(error) {
        if limit > 1 {
          singles = limit - read
        } else {
          try body(.unreadable(error))
          read = 1
          singles = max(0, singles - 1)
        }
      }
      done += read
    }
    try progress(MigrationProgress(phase: .planning, model: schema.name, done: done, total: total))
  }

  private static func concernsOneRecord(_ error: PersistenceError) -> Bool {
    error.code == .damaged || error.code == .encodingFailed
  }

  /// An error of a closure, as opposed to one of reading.
  private struct Stopped: Error {
    let error: any Error
  }
}
