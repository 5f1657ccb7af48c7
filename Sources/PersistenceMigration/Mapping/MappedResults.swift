import PersistenceDriver
import PersistenceDriverSupport

/// Records of a source as the destination is to have them.
///
/// Where records may be passed over, one that cannot be read or carried over counts as read, and nobody is lent it.
final class MappedResults: StorageResultsWrapper {
  let wrapped: any StorageResults
  private let mapper: RecordMapper
  private let passesOver: Bool

  init(_ wrapped: any StorageResults, _ mapper: RecordMapper, passesOver: Bool) {
    self.wrapped = wrapped
    self.mapper = mapper
    self.passesOver = passesOver
  }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    var mapper = mapper
    let target = RowBuffer(count: mapper.destination.fields.count)
    // How many records are read one by one, since one of them cannot be read.
    var (done, alone) = (0, 0)
    while done < limit {
      let wanted = alone > 0 ? 1 : limit - done
      var lent = 0
      do {
        let read = try wrapped.read(from: offset + done, limit: wanted) { row in
          try lend(row, by: &mapper, target, body)
          lent += 1
        }
        done += read
        alone = max(0, alone - 1)
        if read < wanted { return done }
      } catch let stopped as Stopped {
        throw stopped.error
      } catch let error as PersistenceError where passesOver && error.isAboutOneRecord {
        if wanted > 1 {
          done += lent
          alone = wanted - lent
        } else {
          done += 1
          alone = max(0, alone - 1)
          if offset + done >= (try wrapped.count()) { return done }
        }
      }
    }
    return done
  }

  private func lend(
    _ row: borrowing Row, by mapper: inout RecordMapper, _ target: RowBuffer,
    _ body: (borrowing Row) throws -> Void
  ) throws {
    do {
      guard !mapper.isIdentity else { return try body(row) }
      do {
        try mapper.map(row, into: target)
      } catch let error as PersistenceError where passesOver && error.isAboutOneRecord {
        return
      }
      try target.withRow(body)
    } catch {
      throw Stopped(error: error)
    }
  }

  /// What came from the reader of the records, or from the mapping: no failure of reading.
  private struct Stopped: Error {
    let error: any Error
  }
}
