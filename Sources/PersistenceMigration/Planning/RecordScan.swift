import PersistenceDriver

/// All records of a model, a page at a time, those included that cannot be read: reading goes on behind them.
struct RecordScan {
  /// What became of one record.
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

  /// Reads.
  ///
  /// - Parameters:
  ///   - progress: Told how far the reading has come.
  ///   - body: Told of each record what became of it.
  ///   - reading: Called with each record that can be read.
  /// - Throws: What the closures throw, and ``PersistenceError`` where the medium fails.
  func run(
    _ progress: (MigrationProgress) throws -> Void, _ body: (Outcome) throws -> Void,
    reading: (borrowing Row) throws -> Void
  ) throws {
    let request = try FetchRequest(schema)
    let total = try reader.count(request)
    let results = try reader.fetch(request)
    var (done, page) = (0, PageSize())
    // How many of the next records are read one by one, since one of them cannot be read.
    var careful = 0
    while done < total {
      try progress(MigrationProgress(phase: .planning, model: schema.name, done: done, total: total))
      let limit = careful > 0 ? 1 : min(page.rows, total - done)
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
        if careful == 0 { page.note(rows: read, bytes: bytes) }
        careful = max(0, careful - 1)
      } catch let stopped as Stopped {
        throw stopped.error
      } catch let error as PersistenceError where Self.isAboutOneRecord(error) {
        if limit > 1 {
          careful = limit - read
        } else {
          try body(.unreadable(error))
          read = 1
          careful = max(0, careful - 1)
        }
      }
      done += read
    }
    try progress(MigrationProgress(phase: .planning, model: schema.name, done: done, total: total))
  }

  private static func isAboutOneRecord(_ error: PersistenceError) -> Bool {
    error.code == .damaged || error.code == .encodingFailed
  }

  /// What the caller threw, which is no failure of reading.
  private struct Stopped: Error {
    let error: any Error
  }
}
