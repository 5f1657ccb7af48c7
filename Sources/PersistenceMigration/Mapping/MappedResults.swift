import PersistenceDriver
import PersistenceDriverSupport

/// Mapped records of the source.
///
/// A skipped record counts as read, but does not reach the closure.
final class MappedResults: StorageResultsWrapper {
  let wrapped: any StorageResults
  private let mapper: RecordMapper
  private let skipsRejects: Bool

  init(_ wrapped: any StorageResults, _ mapper: RecordMapper, skipsRejects: Bool) {
    self.wrapped = wrapped
    self.mapper = mapper
    self.skipsRejects = skipsRejects
  }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    var mapper = mapper
    let target = RowBuffer(count: mapper.destination.fields.count)
    // After a failed page, its rows are read one at a time to find the unreadable one.
    var (done, singles) = (0, 0)
    while done < limit {
      let wanted = singles > 0 ? 1 : limit - done
      var passed = 0
      do {
        let read = try wrapped.read(from: offset + done, limit: wanted) { row in
          try pass(row, by: &mapper, target, body)
          passed += 1
        }
        done += read
        singles = max(0, singles - 1)
        if read < wanted { return done }
      } catch let stopped as Stopped {
        throw stopped.error
      } catch let error as PersistenceError where skipsRejects && error.concernsOneRecord {
        if wanted > 1 {
          done += passed
          singles = wanted - passed
        } else {
          done += 1
          singles = max(0, singles - 1)
          if offset + done >= (try wrapped.count()) { return done }
        }
      }
    }
    return done
  }

  private func pass(
    _ row: borrowing Row, by mapper: inout RecordMapper, _ target: RowBuffer,
    _ body: (borrowing Row) throws -> Void
  ) throws {
    do {
      guard !mapper.isIdentity else { return try body(row) }
      do {
        try mapper.map(row, into: target)
      } catch let error as PersistenceError where skipsRejects && error.concernsOneRecord {
        return
      }
      try target.withRow(body)
    } catch {
      throw Stopped(error: error)
    }
  }

  /// An error of the closure or of the mapping, as opposed to one of reading.
  private struct Stopped: Error {
    let error: any Error
  }
}
