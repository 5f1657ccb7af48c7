package import DataAccess
package import PersistenceCore

/// A record for tests with kills.
///
/// Number 0 counts the writes; each other number was inserted by one of them.
package struct Job: PersistentRecord, Equatable {
  package var id: Int
  package var count: Int

  package static let schema = RecordSchema<Job>(
    "Job", fields: [.field("id", \.id), .field("count", \.count)], key: [\.id])
  package var primaryKey: Int { id }

  package init(_ id: Int, count: Int) { (self.id, self.count) = (id, count) }

  package init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    count = try row.decode(at: 1)
  }

  package func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(count, at: 1)
  }

  /// The changes of one write: a conditional update of the counter, an insertion, and at every fourth write a
  /// deletion.
  ///
  /// A repeated write would fail as a conflict.
  package static func changes(_ number: Int, _ counter: Job) -> [ObjectChange<Job>] {
    var changes: [ObjectChange<Job>] = [
      .update(Job(0, count: number), replacing: counter), .insert(Job(number, count: number)),
    ]
    if number % 4 == 2, number > 2 { changes.append(.delete(Job(number - 2, count: 0))) }
    return changes
  }

  /// The stored records after a number of writes.
  package static func stored(after writes: Int) -> [Job] {
    [Job(0, count: writes)]
      + (1...writes).filter { $0 % 4 != 0 || $0 + 2 > writes }.map { Job($0, count: $0) }
  }
}
