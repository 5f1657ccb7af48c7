import PersistenceDriver

/// Reads all records of a model page by page, and continues after unreadable ones.
struct RecordScan {
  let schema: ModelSchema
  let reader: any StorageReader

  /// Scans the model, and passes each record or its error to a closure.
  func run(
    _ progress: (StoreProgress) throws -> Void, reading: (borrowing Row) throws -> Void,
    unreadable: (PersistenceError) -> Void
  ) throws {
    let request = try FetchRequest(schema)
    let total = try reader.count(request)
    let results = try reader.fetch(request)
    var (done, page) = (0, PageSize())
    // After a failed page, its rows are read one at a time to find the unreadable one.
    var singles = 0
    while done < total {
      try progress(StoreProgress(phase: .planning, model: schema.name, done: done, total: total))
      let limit = singles > 0 ? 1 : min(page.rows, total - done)
      var (bytes, read) = (0, 0)
      do {
        _ = try results.read(from: done, limit: limit) { row in
          bytes += row.approximateSize
          do {
            try reading(row)
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
          unreadable(error)
          read = 1
          singles = max(0, singles - 1)
        }
      }
      done += read
    }
    try progress(StoreProgress(phase: .planning, model: schema.name, done: done, total: total))
  }

  private static func concernsOneRecord(_ error: PersistenceError) -> Bool {
    error.code == .damaged || error.code == .encodingFailed
  }

  /// An error of a closure, as opposed to one of reading.
  private struct Stopped: Error {
    let error: any Error
  }
}
